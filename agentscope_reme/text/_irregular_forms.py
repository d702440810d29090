# -*- coding: utf-8 -*-
"""English forms that no suffix rule reaches, by their base form."""

__all__ = ["BASE_FORMS"]

_FORMS = """
arise arose arisen|awake awoke awoken|bear bore borne|beat beaten|become became|begin began begun|bend bent
bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built
burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug
draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt
fight fought|find found|flee fled|fly flew flown|forget forgot forgotten|forgive forgave forgiven
freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden
hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left
lend lent|light lit|lose lost|make made|mean meant|meet met|mistake mistook mistaken|overcome overcame|pay paid
prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold
send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung
sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|speed sped|spell spelt|spend spent|spill spilt
spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|strike struck
strive strove striven|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|take took taken
teach taught|tear tore torn|tell told|think thought|throw threw thrown|understand understood
undertake undertook undertaken|undo undid undone|wake woke woken|wear wore worn|weave wove woven|weep wept|win won
wind wound|withdraw withdrew withdrawn|write wrote written|child children|person people|man men|woman women
foot feet|tooth teeth|goose geese|mouse mice|wife wives|knife knives|loaf loaves
shelf shelves|half halves|wolf wolves|thief thieves|calf calves|far farther further|bad worse worst
"""

BASE_FORMS = {
    form: entry.split()[0] for entry in _FORMS.replace("\n", "|").split("|") if entry for form in entry.split()[1:]
}
