"""Words that say nothing about what is searched for.

English in full. Of other languages only those that mean nothing else in English: not German "die"
or "war", Spanish "son", Portuguese "dos". Written as `words.folded` writes.
"""

_ENGLISH = """
    a about above after again against all am an and any are aren't as at be because been before
    being below between both but by can can't cannot could couldn't d did didn't do does doesn't
    doing don't down during each few for from further had hadn't has hasn't have haven't having he
    her here hers herself him himself his how i if in into is isn't it its itself just ll m me more
    most my myself no nor not now of off on once only or other our ours ourselves out over own re s
    same she should shouldn't so some such t than that the their theirs them themselves then there
    these they this those through to too under until up ve very was wasn't we were weren't what
    when where which while who whom why will with won't would wouldn't you your yours yourself
    yourselves
"""
_GERMAN = """
    aber als auch auf aus bei beim bis das dass dein deine dem der des diese diesem diesen dieser
    dieses du durch ein eine einem einen einer eines es gibt haben habe ich ihm ihn ihr ihre ihren
    im ist jede jeden jeder kann kein keine keinen mein meine meinem meinen meiner mit nach nicht
    noch nur oder ohne sein seine seinem seinen seiner sich sie sind und unser unsere unter vom von
    vor wann warum welche welchem welchen welcher welches wenn wer werden wie wieviel wieviele wir
    wird wo wurde wurden zu zum zur zwischen
"""
_SPANISH = """
    al aquel aquella cada cual cuales cuando cuanta cuantas cuanto cuantos de del desde donde el
    ella ellas ellos en entre es esa esas ese eso esos esta estan estas este esto estos fue ha
    hacia hasta la las lo los mas mi mis muy nosotros o para pero por porque que quien quienes se
    segun ser sin sobre su sus tambien tiene tienen tu una unas uno unos usted ustedes y ya yo
"""
_FRENCH = """
    au aux avec avoir cette ces chez combien dans du elle elles et etait etre ils je leur leurs
    lui mes nos notre nous ou parce pas plus pourquoi quand que quel quelle quelles quels qui quoi
    sont sur tes tous toute toutes tres une vos votre vous
"""
_ITALIAN = """
    alla alle anche che chi cosa dal dalla dalle degli dei del della delle dello di dove gli ha
    hanno il io loro nei nel nella nelle noi perche piu quale quali quando quanti quanto quella
    quelle quelli quello questa queste questi questo sono suo sua sui sul sulla tra tuo tua un uno
"""
_PORTUGUESE = """
    ao aos com das ela elas ele eles em essa esse isso isto foi mais meu meus minha muito nao
    nossa nosso onde pela pelas pelo pelos qual quais quantas quantos quem sao sem seu seus sua
    suas tambem tem uma umas uns voce voces
"""
_RUSSIAN = """
    а без бы был была были было быть в вам вас вы где да для до его ее если есть еще же за и из
    или им их к как какая какие каких какого какое какой каком какую когда кто куда ли мне мои моих
    мой моя мы на над нам нас не него нее но о об он она они оно от откуда по под почему при про с
    свой свои себя сколько со так также там то тоже только тот ты у уже чего чей чем что чтобы эта
    эти этих это этого этой этом этот эту я
"""

STOP_WORDS = frozenset(
    " ".join((_ENGLISH, _GERMAN, _SPANISH, _FRENCH, _ITALIAN, _PORTUGUESE, _RUSSIAN)).split()
)
