/* Rows become lanes: four floats of each of WIDTH rows become four vectors of WIDTH lanes. */
#if HAVE_X86_LEVELS && WIDTH == 16
#define TURNED 4

/* Each quarter of a vector holds four floats of a row; row 4 q + n is in quarter q of vector n. */
INLINE __m512 load_quarters(const float *const *rows, ptrdiff_t at)
{
    __m512 x = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + at));
    x = _mm512_insertf32x4(x, _mm_loadu_ps(rows[4] + at), 1);
    x = _mm512_insertf32x4(x, _mm_loadu_ps(rows[8] + at), 2);
    return _mm512_insertf32x4(x, _mm_loadu_ps(rows[12] + at), 3);
}

INLINE void turn_rows(const float *const *rows, ptrdiff_t at, vector turned[TURNED])
{
    const __m512 a = load_quarters(rows, at), b = load_quarters(rows + 1, at);
    const __m512 c = load_quarters(rows + 2, at), d = load_quarters(rows + 3, at);
    const __m512d low_ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b));
    const __m512d low_cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d));
    const __m512d high_ab = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
    const __m512d high_cd = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
    turned[0] = (vector)_mm512_unpacklo_pd(low_ab, low_cd);
    turned[1] = (vector)_mm512_unpackhi_pd(low_ab, low_cd);
    turned[2] = (vector)_mm512_unpacklo_pd(high_ab, high_cd);
    turned[3] = (vector)_mm512_unpackhi_pd(high_ab, high_cd);
}

#endif
