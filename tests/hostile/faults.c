/* Preloaded into the process under test: counts what changes files below one folder, and lets
   the n-th of these calls fail, or sends the process a signal just before or after it.

   The plan lies in memory shared with forked children, so that a parent can read how far a child
   came. Calls through stdio's own buffers are not seen; nothing of ours writes through them. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { CREATE = 1, WRITE = 2, RENAME = 4, REMOVE = 8 };
enum deed { COUNT, FAIL, FAIL_FROM_HERE, SIGNAL_BEFORE, SIGNAL_AFTER };

struct plan {
    long seen;  /* calls of the kinds asked for, so far */
    long at;    /* the number of the call that it is about, from 1 */
    int kinds;
    int deed;
    int number; /* of the error or the signal */
    int armed;
    char below[4096];
};

static struct plan unarmed, *plan = &unarmed;

__attribute__((constructor)) static void share(void) {
    plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void hostile_arm(const char *below, int kinds, long at, int deed, int number) {
    strncpy(plan->below, below, sizeof plan->below - 1);
    plan->kinds = kinds;
    plan->at = at;
    plan->deed = deed;
    plan->number = number;
    plan->seen = 0;
    plan->armed = 1;
}

long hostile_disarm(void) {
    plan->armed = 0;
    return plan->seen;
}

static int starts_below(const char *path) {
    size_t size = strlen(plan->below);
    return !strncmp(path, plan->below, size) && (path[size] == '/' || path[size] == 0);
}

static int descriptor_below(int descriptor) {
    if (!plan->armed) return 0; /* to ask the system each time would be slow */
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return starts_below(path);
}

static int path_below(int folder, const char *path) {
    if (!plan->armed || !path) return 0;
    if (path[0] == '/') return starts_below(path);
    /* The process under test works in the folder that is watched. */
    return folder == AT_FDCWD || descriptor_below(folder);
}

/* What is to be done about this call: 0 go on, -1 fail with errno, 1 signal when it is done. */
static int meet(enum kind kind, int below) {
    if (!below || !(plan->kinds & kind)) return 0;
    long number = __atomic_add_fetch(&plan->seen, 1, __ATOMIC_SEQ_CST);
    int here = number == plan->at;
    if (plan->deed == FAIL_FROM_HERE) here = number >= plan->at;
    if (!here || plan->deed == COUNT) return 0;
    if (plan->deed == SIGNAL_AFTER) return 1;
    if (plan->deed == SIGNAL_BEFORE) {
        kill(getpid(), plan->number);
        return 0;
    }
    errno = plan->number;
    return -1;
}

static void signal_after(int met) {
    int kept = errno;
    if (met == 1) kill(getpid(), plan->number);
    errno = kept;
}

#define STAND_BEFORE(result, name, parameters, arguments, kind, below)                        \
    result name parameters {                                                                 \
        static result(*real) parameters;                                                     \
        int kept = errno, met = meet(kind, below);                                           \
        if (met < 0) return -1;                                                              \
        errno = kept;                                                                        \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                           \
        result found = real arguments;                                                       \
        signal_after(met);                                                                   \
        return found;                                                                        \
    }

STAND_BEFORE(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size), WRITE,
             descriptor_below(fd))
STAND_BEFORE(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at),
             (fd, data, size, at), WRITE, descriptor_below(fd))
STAND_BEFORE(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at),
             (fd, data, size, at), WRITE, descriptor_below(fd))
STAND_BEFORE(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
             WRITE, descriptor_below(fd))
STAND_BEFORE(ssize_t, sendfile, (int to, int from, off_t *at, size_t count),
             (to, from, at, count), WRITE, descriptor_below(to))
STAND_BEFORE(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t count),
             (to, from, at, count), WRITE, descriptor_below(to))
STAND_BEFORE(ssize_t, copy_file_range,
             (int from, off64_t *at, int to, off64_t *there, size_t size, unsigned flags),
             (from, at, to, there, size, flags), WRITE,
             descriptor_below(to))
STAND_BEFORE(int, fsync, (int fd), (fd), WRITE, descriptor_below(fd))
STAND_BEFORE(int, fdatasync, (int fd), (fd), WRITE, descriptor_below(fd))
STAND_BEFORE(int, ftruncate, (int fd, off_t size), (fd, size), WRITE,
             descriptor_below(fd))
STAND_BEFORE(int, ftruncate64, (int fd, off64_t size), (fd, size), WRITE,
             descriptor_below(fd))
STAND_BEFORE(int, rename, (const char *from, const char *to), (from, to), RENAME,
             path_below(AT_FDCWD, from) || path_below(AT_FDCWD, to))
STAND_BEFORE(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to),
             RENAME, path_below(a, from) || path_below(b, to))
STAND_BEFORE(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
             (a, from, b, to, flags), RENAME, path_below(a, from) || path_below(b, to))
STAND_BEFORE(int, link, (const char *from, const char *to), (from, to), RENAME,
             path_below(AT_FDCWD, to))
STAND_BEFORE(int, linkat, (int a, const char *from, int b, const char *to, int flags),
             (a, from, b, to, flags), RENAME, path_below(b, to))
STAND_BEFORE(int, symlink, (const char *from, const char *to), (from, to), CREATE,
             path_below(AT_FDCWD, to))
STAND_BEFORE(int, mkdir, (const char *path, mode_t mode), (path, mode), CREATE,
             path_below(AT_FDCWD, path))
STAND_BEFORE(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode),
             CREATE, path_below(folder, path))
STAND_BEFORE(int, unlink, (const char *path), (path), REMOVE, path_below(AT_FDCWD, path))
STAND_BEFORE(int, rmdir, (const char *path), (path), REMOVE, path_below(AT_FDCWD, path))
STAND_BEFORE(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags),
             REMOVE, path_below(folder, path))

#define OPENS(flags) ((flags) & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR))
#define STAND_BEFORE_OPEN(name, parameters, arguments, folder)                               \
    int name parameters {                                                                    \
        static int(*real) parameters;                                                        \
        mode_t mode = 0;                                                                     \
        if (flags & (O_CREAT | __O_TMPFILE)) {                                               \
            va_list rest;                                                                    \
            va_start(rest, flags);                                                           \
            mode = va_arg(rest, mode_t);                                                     \
            va_end(rest);                                                                    \
        }                                                                                    \
        int kept = errno;                                                                    \
        int met = OPENS(flags) ? meet(CREATE, path_below(folder, path)) : 0;                 \
        if (met < 0) return -1;                                                              \
        errno = kept;                                                                        \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                           \
        int found = real arguments;                                                          \
        signal_after(met);                                                                   \
        return found;                                                                        \
    }

STAND_BEFORE_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
STAND_BEFORE_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
STAND_BEFORE_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)
STAND_BEFORE_OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode),
                  at)

long syscall(long number, ...) {
    static long (*real)(long, ...);
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int place = 0; place < 6; place++) a[place] = va_arg(rest, long);
    va_end(rest);
    int met = 0, kept = errno;
    if (number == SYS_renameat2)
        met = meet(RENAME, path_below((int)a[0], (char *)a[1]) || path_below((int)a[2], (char *)a[3]));
    if (met < 0) return -1;
    errno = kept;
    if (!real) real = dlsym(RTLD_NEXT, "syscall");
    long found = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    signal_after(met);
    return found;
}
