"""The closed lexicon: nouns, adjectives, verbs with their German inflection, and fixed phrases.

Tables are strings, entries divided by `;`. English forms that are not regular follow a slash.

- Nouns: `english[/plural] German gender plural`. Gender `mn` marks masculine nouns that take their
  plural form in the accusative and dative too (der Junge, den Jungen). A plural `-` marks a mass
  noun. Places end with the English and German preposition of "in the house", "at the station".
- Adjectives: `english german[/stem before an ending]`.
- Verbs: `english[/past/participle] infinitive [present past participle] [sein]`. The four German
  forms are those of "er" (present, past) and the infinitive and participle without a separable
  prefix, which `|` divides off; weak verbs give the infinitive only. An English particle is joined
  by `_`. `sein` marks the auxiliary of the perfect.
"""

from __future__ import annotations

from typing import NamedTuple


class Noun(NamedTuple):
    """A noun of both languages; `plural` and `target_plural` are empty for mass nouns."""

    kind: str
    source: str
    plural: str
    target: str
    gender: str
    target_plural: str
    weak: bool = False
    prepositions: tuple[str, str] = ("", "")


class Adjective(NamedTuple):
    """An adjective; `stem` is what German endings are put to."""

    source: str
    target: str
    stem: str


class Verb(NamedTuple):
    """A verb; present and past hold the forms for I, for he, and for they."""

    base: str
    present: tuple[str, str, str]
    past: tuple[str, str, str]
    participle: str
    particle: str
    infinitive: str
    target_present: tuple[str, str, str]
    target_past: tuple[str, str, str]
    target_participle: str
    prefix: str = ""
    perfect_with_sein: bool = False
    auxiliary: bool = False


# --- Regular inflection --------------------------------------------------------------------------


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word[-1] == "y" and word[-2] not in "aeou" else word + "s"


def _with_ed(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    return word[:-1] + "ied" if word[-1] == "y" and word[-2] not in "aeou" else word + "ed"


def _weak_forms(infinitive: str) -> list[str]:
    """Present and past of "er", and the participle, of a German weak verb."""
    stem = infinitive.removesuffix("en")
    link = "e" if stem[-1] in "td" or stem.endswith(("fn", "chn")) else ""
    no_ge = infinitive.startswith(("be", "emp", "ent", "er", "ge", "ver", "zer"))
    no_ge = no_ge or infinitive.endswith("ieren")
    return [f"{stem}{link}t", f"{stem}{link}te", f"{'' if no_ge else 'ge'}{stem}{link}t"]


def verb(entry: str) -> Verb:
    """Reads one entry of a verb table."""
    english, german, *forms = entry.split()
    sein = forms[-1:] == ["sein"]
    forms = forms[: len(forms) - sein]
    (base, particle), *irregular = ((*form.split("_"), "")[:2] for form in english.split("/"))
    past, participle = [form for form, _ in irregular] or [_with_ed(base)] * 2
    prefix, _, infinitive = german.rpartition("|")
    present, preterite, target_participle = forms or _weak_forms(infinitive)
    return Verb(
        base,
        (base, _with_s(base) if base != "go" else "goes", base),
        (past, past, past),
        participle,
        particle,
        infinitive,
        ("weiß" if infinitive == "wissen" else infinitive[:-1], present, infinitive),
        (preterite, preterite, preterite + ("n" if preterite.endswith("e") else "en")),
        target_participle,
        prefix,
        sein,
    )


def _verbs(table: str) -> list[Verb]:
    return [verb(entry) for entry in table.split(";")]


def _adjectives(table: str) -> list[Adjective]:
    rows = (entry.replace("/", " ").split() for entry in table.split(";"))
    return [Adjective(row[0], row[1], row[-1]) for row in rows]


def noun(entry: str, kind: str) -> Noun:
    """Reads one entry of a noun table."""
    english, german, gender, german_plural, *rest = entry.split()
    singular, _, plural = english.partition("/")
    mass = german_plural == "-"
    return Noun(
        kind,
        singular,
        "" if mass else plural or _with_s(singular),
        german,
        gender[0],
        "" if mass else german_plural,
        gender == "mn",
        tuple(rest) or ("", ""),
    )


# --- Nouns ---------------------------------------------------------------------------------------

_NOUNS = {
    "person": """
        man/men Mann m Männer; woman/women Frau f Frauen; boy Junge mn Jungen;
        child/children Kind n Kinder; teacher Lehrer m Lehrer; doctor Arzt m Ärzte;
        student Student mn Studenten; neighbour Nachbar mn Nachbarn; friend Freund m Freunde;
        mother Mutter f Mütter; father Vater m Väter; brother Bruder m Brüder;
        sister Schwester f Schwestern; uncle Onkel m Onkel; aunt Tante f Tanten;
        grandmother Großmutter f Großmütter; grandfather Großvater m Großväter;
        daughter Tochter f Töchter; son Sohn m Söhne; colleague Kollege mn Kollegen;
        baker Bäcker m Bäcker; farmer Bauer mn Bauern; singer Sänger m Sänger;
        painter Maler m Maler; policeman/policemen Polizist mn Polizisten;
        nurse Krankenschwester f Krankenschwestern; queen Königin f Königinnen;
        king König m Könige; soldier Soldat mn Soldaten; tourist Tourist mn Touristen;
        customer Kunde mn Kunden; guest Gast m Gäste; judge Richter m Richter;
        thief/thieves Dieb m Diebe; waiter Kellner m Kellner; lawyer Anwalt m Anwälte;
        actress Schauspielerin f Schauspielerinnen; pilot Pilot mn Piloten;
        captain Kapitän m Kapitäne; hunter Jäger m Jäger; princess Prinzessin f Prinzessinnen;
        prince Prinz mn Prinzen; gardener Gärtner m Gärtner; professor Professor m Professoren;
        mayor Bürgermeister m Bürgermeister; witness Zeuge mn Zeugen; widow Witwe f Witwen;
        journalist Journalist mn Journalisten; musician Musiker m Musiker""",
    "animal": """
        dog Hund m Hunde; cat Katze f Katzen; horse Pferd n Pferde; bird Vogel m Vögel;
        mouse/mice Maus f Mäuse; cow Kuh f Kühe; lion Löwe mn Löwen; bear Bär mn Bären;
        elephant Elefant mn Elefanten; monkey Affe mn Affen; pig Schwein n Schweine;
        hare Hase mn Hasen; fox Fuchs m Füchse; wolf/wolves Wolf m Wölfe; tiger Tiger m Tiger;
        snake Schlange f Schlangen; frog Frosch m Frösche; chicken Huhn n Hühner;
        duck Ente f Enten; goat Ziege f Ziegen; camel Kamel n Kamele; spider Spinne f Spinnen""",
    "thing": """
        picture Bild n Bilder; table Tisch m Tische; chair Stuhl m Stühle;
        key Schlüssel m Schlüssel; bicycle Fahrrad n Fahrräder; car Auto n Autos;
        coat Mantel m Mäntel; hat Hut m Hüte; shirt Hemd n Hemden; dress Kleid n Kleider;
        knife/knives Messer n Messer; fork Gabel f Gabeln; spoon Löffel m Löffel;
        cup Tasse f Tassen; glass Glas n Gläser; plate Teller m Teller; ring Ring m Ringe;
        flower Blume f Blumen; guitar Gitarre f Gitarren; piano Klavier n Klaviere;
        violin Geige f Geigen; ball Ball m Bälle; map Karte f Karten; boat Boot n Boote;
        umbrella Regenschirm m Regenschirme; coin Münze f Münzen; pen Stift m Stifte;
        mirror Spiegel m Spiegel; carpet Teppich m Teppiche; candle Kerze f Kerzen;
        stone Stein m Steine; blanket Decke f Decken; present Geschenk n Geschenke;
        bed Bett n Betten; sofa Sofa n Sofas; shelf/shelves Regal n Regale; desk Schreibtisch m Schreibtische""",
    "device": """
        lamp Lampe f Lampen; machine Maschine f Maschinen; radio Radio n Radios;
        camera Kamera f Kameras; computer Computer m Computer; clock Uhr f Uhren;
        television Fernseher m Fernseher""",
    "container": """
        box Kiste f Kisten; bag Tasche f Taschen; suitcase Koffer m Koffer;
        bottle Flasche f Flaschen; basket Korb m Körbe; wardrobe Schrank m Schränke;
        door Tür f Türen; window Fenster n Fenster""",
    "text": """
        book Buch n Bücher; letter Brief m Briefe; newspaper Zeitung f Zeitungen;
        story Geschichte f Geschichten; song Lied n Lieder; poem Gedicht n Gedichte;
        report Bericht m Berichte; contract Vertrag m Verträge""",
    "food": """
        apple Apfel m Äpfel; cake Kuchen m Kuchen; egg Ei n Eier; sausage Wurst f Würste;
        tomato/tomatoes Tomate f Tomaten; potato/potatoes Kartoffel f Kartoffeln;
        banana Banane f Bananen; pear Birne f Birnen; carrot Karotte f Karotten;
        lemon Zitrone f Zitronen; nut Nuss f Nüsse; soup Suppe f Suppen; bread Brot n -;
        cheese Käse m -; meat Fleisch n -; rice Reis m -; honey Honig m -""",
    "drink": """
        milk Milch f -; water Wasser n -; coffee Kaffee m -; tea Tee m -; wine Wein m -;
        beer Bier n -; juice Saft m -""",
    "place": """
        house Haus n Häuser in in; garden Garten m Gärten in in; kitchen Küche f Küchen in in;
        school Schule f Schulen in in; church Kirche f Kirchen in in; park Park m Parks in in;
        hospital Krankenhaus n Krankenhäuser in in; forest Wald m Wälder in in;
        city Stadt f Städte in in; village Dorf n Dörfer in in; museum Museum n Museen in in;
        library Bibliothek f Bibliotheken in in; restaurant Restaurant n Restaurants in in;
        hotel Hotel n Hotels in in; theatre Theater n Theater in in; office Büro n Büros in in;
        shop Laden m Läden in in; castle Schloss n Schlösser in in; valley Tal n Täler in in;
        palace Palast m Paläste in in; station Bahnhof m Bahnhöfe at an; lake See m Seen at an;
        airport Flughafen m Flughäfen at an; market Markt m Märkte at auf;
        bridge Brücke f Brücken on auf; island Insel f Inseln on auf; roof Dach n Dächer on auf;
        beach Strand m Strände on an; farm Bauernhof m Bauernhöfe on auf;
        street Straße f Straßen in auf""",
}
NOUNS = {kind: [noun(entry, kind) for entry in table.split(";")] for kind, table in _NOUNS.items()}

# --- Adjectives ----------------------------------------------------------------------------------

_MEN_AND_BEASTS = """
    young jung; old alt; hungry hungrig; thirsty durstig; strong stark; clever klug; lazy faul;
    brave mutig; tired müde; dangerous gefährlich; nervous nervös; sad traurig; curious neugierig;
    healthy gesund; blind blind; happy glücklich; patient geduldig;"""
_LOOKS = "small klein; big groß; beautiful schön; old alt; white weiß; black schwarz; brown braun;"
ADJECTIVES = {
    kind: _adjectives(table)
    for kind, table in {
        "person": _MEN_AND_BEASTS
        + """
        rich reich; poor arm; famous berühmt; friendly freundlich; angry wütend; polite höflich;
        jealous eifersüchtig; honest ehrlich; lonely einsam; strict streng; shy schüchtern;
        proud stolz; busy beschäftigt; modest bescheiden; grateful dankbar; stupid dumm;
        generous großzügig; cruel grausam; ill krank""",
        "animal": _MEN_AND_BEASTS + _LOOKS + "wild wild; thin dünn; fat dick; tame zahm",
        "thing": _LOOKS
        + """
        new neu; expensive teuer/teur; cheap billig; ugly hässlich; heavy schwer; red rot;
        blue blau; green grün; yellow gelb; grey grau; round rund; broken kaputt; clean sauber;
        dirty schmutzig; valuable wertvoll; modern modern; strange seltsam; useful nützlich;
        wet nass; dry trocken; hard hart; light leicht; practical praktisch""",
        "container": _LOOKS
        + """
        new neu; empty leer; full voll; open offen; expensive teuer/teur; red rot; heavy schwer;
        dirty schmutzig; square viereckig; strange seltsam; narrow schmal""",
        "text": """
        long lang; short kurz; new neu; old alt; important wichtig; interesting interessant;
        funny lustig; secret geheim; sad traurig; boring langweilig; strange seltsam;
        difficult schwierig; beautiful schön; simple einfach""",
        "food": """
        fresh frisch; sweet süß; sour sauer/saur; warm warm; cold kalt; expensive teuer/teur;
        cheap billig; hot heiß; good gut; bitter bitter""",
        "place": """
        small klein; big groß; old alt; new neu; beautiful schön; quiet ruhig; modern modern;
        dark dunkel/dunkl; famous berühmt; empty leer; dangerous gefährlich; warm warm; cold kalt;
        dirty schmutzig; clean sauber; wide breit; loud laut""",
    }.items()
}
ADJECTIVES["device"] = ADJECTIVES["thing"]
ADJECTIVES["drink"] = ADJECTIVES["food"]
COMPARATIVES = _adjectives("""
    older älter; younger jünger; stronger stärker; richer reicher; poorer ärmer;
    happier glücklicher; friendlier freundlicher; faster schneller; lazier fauler; braver mutiger""")
DEGREES = _adjectives("very sehr; too zu; quite ziemlich; really wirklich")

# --- Verbs ---------------------------------------------------------------------------------------
# The keys say what a verb goes with; the grammar knows the groups by them.

_VERBS = {
    "animate": """
        sleep/slept/slept schlafen schläft schlief geschlafen;
        swim/swam/swum schwimmen schwimmt schwamm geschwommen sein;
        run/ran/run laufen läuft lief gelaufen sein; wake_up/woke_up/woken_up auf|wachen sein;
        jump springen springt sprang gesprungen sein;
        disappear verschwinden verschwindet verschwand verschwunden sein;
        fall_asleep/fell_asleep/fallen_asleep ein|schlafen schläft schlief geschlafen sein""",
    "intransitive": """
        laugh lachen; cry weinen; work arbeiten; dance tanzen; snore schnarchen; cough husten;
        sing/sang/sung singen singt sang gesungen; pray beten betet betete gebetet;
        suffer leiden leidet litt gelitten; whistle pfeifen pfeift pfiff gepfiffen;
        get_up/got_up/got_up auf|stehen steht stand gestanden sein;
        arrive an|kommen kommt kam gekommen sein; shout schreien schreit schrie geschrien;
        stay bleiben bleibt blieb geblieben sein; yawn gähnen""",
    "living": """
        see/saw/seen sehen sieht sah gesehen; hear/heard/heard hören; love lieben; hate hassen;
        observe beobachten; find/found/found finden findet fand gefunden; save retten;
        photograph fotografieren; protect beschützen; paint malen; miss vermissen;
        recognise erkennen erkennt erkannte erkannt; touch berühren;
        look_at/looked_at/looked_at an|sehen sieht sah gesehen""",
    "person": """
        know/knew/known kennen kennt kannte gekannt; visit besuchen; greet begrüßen;
        call an|rufen ruft rief gerufen; invite ein|laden lädt lud geladen; warn warnen;
        meet/met/met treffen trifft traf getroffen; kiss küssen; ask fragen; praise loben;
        understand/understood/understood verstehen versteht verstand verstanden;
        interrupt unterbrechen unterbricht unterbrach unterbrochen; punish bestrafen;
        forget/forgot/forgotten vergessen vergisst vergaß vergessen; pick_up ab|holen;
        insult beleidigen; laugh_at aus|lachen""",
    "dative": """
        help helfen hilft half geholfen; thank danken; follow folgen sein; trust vertrauen;
        answer antworten; listen_to zu|hören; agree_with zu|stimmen; congratulate gratulieren;
        contradict widersprechen widerspricht widersprach widersprochen""",
    "thing": """
        buy/bought/bought kaufen; sell/sold/sold verkaufen; need brauchen; use benutzen;
        lose/lost/lost verlieren verliert verlor verloren; look_for suchen;
        steal/stole/stolen stehlen stiehlt stahl gestohlen; hide/hid/hidden verstecken;
        carry tragen trägt trug getragen; draw/drew/drawn zeichnen; order bestellen;
        describe beschreiben beschreibt beschrieb beschrieben; pay_for bezahlen;
        borrow aus|leihen leiht lieh geliehen; return zurück|geben gibt gab gegeben;
        choose/chose/chosen aus|wählen; throw_away/threw_away/thrown_away weg|werfen wirft warf
        geworfen; take_along/took_along/taken_along mit|nehmen nimmt nahm genommen;
        bring_back/brought_back/brought_back zurück|bringen bringt brachte gebracht""",
    "device": """
        turn_on ein|schalten; turn_off aus|schalten; repair reparieren; test testen;
        improve verbessern verbessert verbesserte verbessert""",
    "container": """
        open öffnen; close schließen schließt schloss geschlossen; clean putzen;
        break_open/broke_open/broken_open auf|brechen bricht brach gebrochen""",
    "text": """
        write/wrote/written schreiben schreibt schrieb geschrieben; publish veröffentlichen;
        translate übersetzen übersetzt übersetzte übersetzt; print drucken; quote zitieren;
        copy ab|schreiben schreibt schrieb geschrieben; study studieren""",
    "food": """
        eat/ate/eaten essen isst aß gegessen; cook kochen; taste probieren; share teilen;
        prepare zu|bereiten bereitet bereitete bereitet; wash waschen wäscht wusch gewaschen""",
    "drink": """
        drink/drank/drunk trinken trinkt trank getrunken; spill verschütten; refuse ab|lehnen;
        warm_up auf|wärmen""",
    "place": """
        leave/left/left verlassen verlässt verließ verlassen; reach erreichen;
        build/built/built bauen; inspect besichtigen; enter betreten betritt betrat betreten""",
    "giving": """
        give/gave/given geben gibt gab gegeben; show/showed/shown zeigen; offer an|bieten bietet
        bot geboten; send/sent/sent schicken; bring/brought/brought bringen bringt brachte gebracht;
        lend/lent/lent leihen leiht lieh geliehen; promise versprechen verspricht versprach
        versprochen""",
    "motion": """
        go/went/gone gehen geht ging gegangen sein; drive/drove/driven fahren fährt fuhr gefahren
        sein; ride/rode/ridden reiten reitet ritt geritten sein; travel/travelled/travelled reisen
        sein; fly/flew/flown fliegen fliegt flog geflogen sein; hurry eilen sein;
        come/came/come kommen kommt kam gekommen sein; come_back/came_back/come_back
        zurück|kommen kommt kam gekommen sein; march marschieren sein""",
    "located": """
        live wohnen; sit/sat/sat sitzen sitzt saß gesessen; wait warten; work arbeiten;
        stand/stood/stood stehen steht stand gestanden; play spielen""",
    "placing": """
        throw/threw/thrown werfen wirft warf geworfen; place stellen; push schieben schiebt schob
        geschoben""",
    "saying": """
        say/said/said sagen; know/knew/known wissen weiß wusste gewusst; believe glauben;
        hope hoffen; think/thought/thought denken denkt dachte gedacht; notice merken;
        write/wrote/written schreiben schreibt schrieb geschrieben; explain erklären;
        hear/heard/heard hören; claim behaupten; forget/forgot/forgotten vergessen vergisst vergaß
        vergessen; suspect vermuten; report berichten; admit/admitted/admitted zu|geben gibt gab
        gegeben""",
    "asking": """
        ask fragen; know/knew/known wissen weiß wusste gewusst; explain erklären;
        forget/forgot/forgotten vergessen vergisst vergaß vergessen""",
    "trying": """
        try versuchen; hope hoffen; decide beschließen beschließt beschloss beschlossen;
        begin/began/begun beginnen beginnt begann begonnen; plan/planned/planned planen;
        forget/forgot/forgotten vergessen vergisst vergaß vergessen; start an|fangen fängt fing
        gefangen; promise versprechen verspricht versprach versprochen""",
}
VERBS = {group: _verbs(table) for group, table in _VERBS.items()}
# English and German preposition, and the case that it asks for.
PREPOSITIONAL_VERBS = {
    preposition: _verbs(table)
    for preposition, table in {
        ("for", "auf", "acc"): "wait warten",
        ("for", "nach", "dat"): "search suchen",
        ("for", "für", "acc"): "work arbeiten; vote stimmen",
        ("of", "an", "acc"): "think/thought/thought denken denkt dachte gedacht",
        ("of", "von", "dat"): "dream träumen",
        ("about", "über", "acc"): """
            talk reden; laugh lachen; complain klagen;
            write/wrote/written schreiben schreibt schrieb geschrieben""",
        ("on", "auf", "acc"): "count zählen",
        ("on", "über", "acc"): "report berichten",
        ("in", "an", "acc"): "believe glauben",
        ("to", "an", "acc"): "write/wrote/written schreiben schreibt schrieb geschrieben",
        ("with", "mit", "dat"): """
            speak/spoke/spoken sprechen spricht sprach gesprochen; play spielen; dance tanzen;
            argue streiten streitet stritt gestritten""",
        ("against", "gegen", "acc"): "fight/fought/fought kämpfen",
        ("at", "auf", "acc"): "shoot/shot/shot schießen schießt schoss geschossen",
    }.items()
}
SEIN = ("sein", ("bin", "ist", "sind"), ("war", "war", "waren"), "gewesen", "", True)
BE = Verb("be", ("am", "is", "are"), ("was", "was", "were"), "been", "", *SEIN, auxiliary=True)
HAVE = verb("have/had/had haben hat hatte gehabt")._replace(present=("have", "has", "have"))
COST = verb("cost/cost/cost kosten")
BELONG = verb("belong gehören")
DO = (("do", "does", "do"), ("did", "did", "did"))
WERDEN = (("werde", "wird", "werden"), ("wurde", "wurde", "wurden"))


class Modal(NamedTuple):
    """A way to put a verb into the infinitive: the English finite verb and the German one."""

    source: Verb
    tense: str
    target: tuple[str, str, str]


def _modal(source: str, *target: str) -> Modal:
    form = (source,) * 3
    return Modal(
        Verb(source, form, form, "", "", "", form, form, "", auxiliary=True), "present", target
    )


_WANT = verb("want wollen will wollte gewollt")
MODALS = {
    "can": _modal("can", "kann", "kann", "können"),
    "could": _modal("could", "konnte", "konnte", "konnten"),
    "must": _modal("must", "muss", "muss", "müssen"),
    "may": _modal("may", "darf", "darf", "dürfen"),
    "should": _modal("should", "sollte", "sollte", "sollten"),
    "will": _modal("will", *WERDEN[0]),
    "wants": Modal(_WANT, "present", ("will", "will", "wollen")),
    "wanted": Modal(_WANT, "past", ("wollte", "wollte", "wollten")),
    "had": Modal(HAVE, "past", ("musste", "musste", "mussten")),
}

# --- Fixed phrases -------------------------------------------------------------------------------
# Words are linked in order; `_` joins words that are linked to one word of the other side.


def _phrases(table: str) -> list[tuple[str, str]]:
    return [tuple(entry.strip().split("|")) for entry in table.split(";")]


_ANY_TIME = """
    in_the morning|am Morgen; in_the evening|am Abend; in_the afternoon|am Nachmittag;
    in the night|in der Nacht; at noon|am Mittag; in spring|im Frühling; in summer|im Sommer;
    in autumn|im Herbst; in winter|im Winter; at_the weekend|am Wochenende;"""
TIMES = {
    group: _phrases(_ANY_TIME + table)
    for group, table in {
        "present": """
            today|heute; now|jetzt; every day|jeden Tag; every week|jede Woche;
            every year|jedes Jahr; every morning|jeden Morgen; every evening|jeden Abend""",
        "past": """
            yesterday|gestern; last week|letzte Woche; last month|letzten Monat;
            last year|letztes Jahr; last summer|letzten Sommer; last night|letzte Nacht""",
        "future": """
            tomorrow|morgen; next week|nächste Woche; next month|nächsten Monat;
            next year|nächstes Jahr; next summer|nächsten Sommer; soon|bald; today|heute""",
    }.items()
}
WEEKDAYS = _phrases("""
    Monday|Montag; Tuesday|Dienstag; Wednesday|Mittwoch; Thursday|Donnerstag; Friday|Freitag;
    Saturday|Samstag; Sunday|Sonntag""")
MONTHS = _phrases("""
    January|Januar; February|Februar; March|März; April|April; May|Mai; June|Juni; July|Juli;
    August|August; September|September; October|Oktober; November|November; December|Dezember""")
SPANS = _phrases("days|Tagen; weeks|Wochen; months|Monaten; years|Jahren; hours|Stunden")
# Adverbs before the English verb, by the tenses that they go with.
ADVERBS = {
    "present": _phrases("""
        often|oft; always|immer; never|nie; sometimes|manchmal; rarely|selten; usually|meistens;
        still|noch; also|auch"""),
    "past": _phrases("often|oft; always|immer; never|nie; sometimes|manchmal; rarely|selten"),
    "perfect": _phrases("already|schon; just|gerade; never|nie; often|oft"),
    "modal": _phrases("always|immer; also|auch; often|oft"),
}
MANNERS = _phrases("""
    quickly|schnell; slowly|langsam; carefully|vorsichtig; secretly|heimlich; together|zusammen;
    willingly|freiwillig; alone|allein""")
# Prepositions of things that stand or are put somewhere; dative for where, accusative for where to.
POSITIONS = _phrases("on|auf; under|unter; behind|hinter; beside|neben; on|auf")
# Conjunctions, with the German one of the present and that of the past.
CONJUNCTIONS = _phrases("""
    because|weil|weil; although|obwohl|obwohl; when|wenn|als; if|wenn|; while|während|während;
    before|bevor|bevor; after|nachdem|nachdem; so that|damit|damit; because|weil|weil""")
# Nouns by what else they are good for.
_GROUPS = {
    "furniture": "table chair wardrobe piano television mirror basket lamp bed sofa shelf desk",
    "profession": """
        teacher doctor student baker farmer singer painter policeman soldier judge waiter lawyer
        pilot captain hunter gardener professor mayor journalist musician nurse actress queen
        princess""",
    "relation": """
        friend neighbour mother father brother sister uncle aunt grandmother grandfather daughter
        son colleague""",
}
GROUPS = {
    group: [noun for nouns in NOUNS.values() for noun in nouns if noun.source in members.split()]
    for group, members in _GROUPS.items()
}
