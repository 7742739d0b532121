"""Words that stand in every text and say little of one, for those who want to leave them out.

Only lists of heaviest words leave them out, and only if asked: a model may well decide by "not".
Words that deny or limit are therefore none of them.
"""

from __future__ import annotations

__all__ = ["says_little"]

_WORDS = {
    "en": "a an the and or of to in on at by for from with as is are was were be been being am it "
    "its this that these those i you he she we they me him her us them my your his our their "
    "there here which who whom what when where how if then than so do does did have has had will "
    "would can could shall should may might must into about over under out up down also s t",
    "de": "der die das den dem des ein eine einen einem einer eines und oder in im an am auf aus "
    "bei mit nach von vom zu zum zur für über unter ist sind war waren sein bin bist wird werden "
    "hat haben hatte ich du er sie es wir ihr sich dass als wie wenn so auch dieser diese dieses",
    "fr": "le la les l un une des du de d et ou à au aux en dans sur par pour avec est sont était "
    "être été il elle on nous vous ils elles je tu ce cette ces qui que qu se s son sa ses leur",
    "es": "el la los las un una unos unas y o de del a al en con por para es son era ser fue que "
    "se su sus lo le les yo tú él ella nosotros este esta estos estas como",
    "it": "il lo la i gli le un uno una e o di del della dei a al alla in nel nella con per da è "
    "sono era essere che si suo sua io tu lui lei noi questo questa come",
    "pt": "o a os as um uma uns umas e ou de do da dos das em com por para é são era "
    "ser foi que se seu sua eu ele ela nós este esta como",
    "nl": "de het een en of van in op te aan bij met voor naar is zijn was waren wordt heeft had "
    "ik jij hij zij wij dit dat deze die er als om ook",
    "zh": "的 了 是 在 我 你 他 她 它 我们 你们 他们 这 那 这个 那个 和 与 也 都 就 有 着 过 个 "
    "一个 很 还 又 再 到 给 从 对 把 被 让 去 来 说 要 会 吗 呢 吧 啊",
    "ja": "は が を に で と も の へ や か から まで より です でした ます まし ました た て だ "
    "し する した して いる い ある れ この その あの これ それ あれ こと もの よう",
}
_STOP = frozenset(word for words in _WORDS.values() for word in words.split())


def says_little(word: str) -> bool:
    """Whether a word is punctuation, or one of those that stand in every text."""
    plain = word.casefold()
    return not any(letter.isalnum() for letter in plain) or plain in _STOP
