"""Words that decide whether a full stop ends a sentence, all in lower case.

The lists hold several languages at once, so a text need not say which it is in; a word that is
an abbreviation here and an ordinary last word there is left out or asks for more evidence.
"""

from __future__ import annotations

__all__ = ["ABBREVIATIONS", "BEFORE_NUMBERS", "NAMES", "OFTEN_LAST", "ORDINALS", "STARTERS"]


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ABBREVIATIONS = _words(
    "mr mrs ms messrs dr drs prof rev pres gov sen gen col maj capt cpt lt sgt cmdr adm st ste "
    "mt vs viz cf ca e.g i.e eg ie resp approx figs vols pp eds al nos ps p.s pvt assoc rs n° "
    # German
    "fr hr bzw bspw evtl ggf inkl exkl sog vgl z.b z.t d.h u.a o.ä i.d.r s.o s.u nr geb gest "
    "dipl std "
    # French, Spanish, Italian, Dutch, Danish, Polish, Slovak, Russian
    "mme mlle mgr sra srta dra lic dott avv sig dhr mevr bijv skt np tzn tzw napr "
    "проф ул гг кв пгт им см"
)
"""A full stop after one of these never ends the sentence."""

BEFORE_NUMBERS = _words(
    "no art abs abb fig vol sec ch bd tel ext min max p núm pág стр jan feb mar apr jun jul aug "
    "sep sept set oct okt nov dec dez ago lun"
)
"""A full stop after one of these does not end the sentence if a figure follows."""

OFTEN_LAST = _words(
    "co inc ltd corp bros jr sr etc ect ecc dept ave blvd rd hwy apt avg oz lb lbs ed ing mag voc "
    "tues thur thurs usw mio mrd tsd chr enz пр"
)
"""A full stop after one of these ends the sentence only if the next word often begins one."""

STARTERS = _words(
    "a an the this that these those there here i he she it we you they my his her its our "
    "your their but and so if when while after before as at in on for from to with by of not "
    "no yes what who why how where which is are was were do does did can could would should "
    "will may might have has had all some many most one every each both just now then also "
    "even only once however although though because since "
    "der die das ein eine er sie es wir ich ihr sein seine ihre dieser diese dieses im am auf "
    "mit nach bei von zu aus und aber doch wenn als da dort hier auch nur wie was wer wo man"
)
"""Words that often begin a sentence and hardly ever a name."""

ORDINALS = _words(
    "am im der die das dem den des vom zum zur beim bis ab seit und oder ein eine einem einen "
    "einer vor januar februar märz april mai juni juli august september oktober november dezember "
    "jahrhundert jahrhunderts"
)
"""Beside one of these a short number with a full stop is an ordinal: am 3. Oktober."""

NAMES = frozenset({"yahoo", "jeopardy"})
"""Names that end in an exclamation mark."""
