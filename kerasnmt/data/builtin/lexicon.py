"""Closed lexicon; see `entries` for the format of the tables."""

from kerasnmt.data.builtin.entries import (
    Modal,
    Verb,
    adjectives,
    modal,
    nouns,
    phrases,
    verb,
    verbs,
)

# --- Nouns ---------------------------------------------------------------------------------------

_NOUNS = {
    "person": """
        man/men Mann m Männer; woman/women Frau f Frauen; boy Junge mn Jungen;
        child/children Kind n Kinder; teacher Lehrer m Lehrer; doctor Arzt m Ärzte;
        student Student mn Studenten; neighbour Nachbar mn Nachbarn; friend Freund m Freunde;
        mother Mutter f Mütter; father Vater m Väter; brother Bruder m Brüder;
        sister Schwester f Schwestern; uncle Onkel m Onkel; aunt Tante f Tanten;
        daughter Tochter f Töchter; son Sohn m Söhne; colleague Kollege mn Kollegen;
        singer Sänger m Sänger; painter Maler m Maler; soldier Soldat mn Soldaten;
        guest Gast m Gäste; judge Richter m Richter; actress Schauspielerin f Schauspielerinnen;
        queen Königin f Königinnen; king König m Könige""",
    "animal": """
        dog Hund m Hunde; cat Katze f Katzen; horse Pferd n Pferde; bird Vogel m Vögel;
        mouse/mice Maus f Mäuse; cow Kuh f Kühe; lion Löwe mn Löwen; monkey Affe mn Affen;
        pig Schwein n Schweine; wolf/wolves Wolf m Wölfe; snake Schlange f Schlangen""",
    "thing": """
        picture Bild n Bilder; key Schlüssel m Schlüssel; bicycle Fahrrad n Fahrräder;
        car Auto n Autos; coat Mantel m Mäntel; hat Hut m Hüte; shirt Hemd n Hemden;
        knife/knives Messer n Messer; cup Tasse f Tassen; glass Glas n Gläser; lamp Lampe f Lampen;
        flower Blume f Blumen; guitar Gitarre f Gitarren; ball Ball m Bälle; clock Uhr f Uhren""",
    "furniture": """
        table Tisch m Tische; chair Stuhl m Stühle; bed Bett n Betten; shelf/shelves Regal n Regale;
        piano Klavier n Klaviere; mirror Spiegel m Spiegel""",
    "container": """
        box Kiste f Kisten; bag Tasche f Taschen; suitcase Koffer m Koffer;
        bottle Flasche f Flaschen; door Tür f Türen; window Fenster n Fenster""",
    "text": """
        book Buch n Bücher; letter Brief m Briefe; newspaper Zeitung f Zeitungen;
        story Geschichte f Geschichten; song Lied n Lieder; poem Gedicht n Gedichte""",
    "food": """
        apple Apfel m Äpfel; cake Kuchen m Kuchen; egg Ei n Eier; soup Suppe f Suppen;
        potato/potatoes Kartoffel f Kartoffeln; bread Brot n -; cheese Käse m -; meat Fleisch n -
        """,
    "drink": "milk Milch f -; water Wasser n -; coffee Kaffee m -; wine Wein m -; beer Bier n -",
    "place": """
        house Haus n Häuser in in; garden Garten m Gärten in in; kitchen Küche f Küchen in in;
        school Schule f Schulen in in; church Kirche f Kirchen in in; park Park m Parks in in;
        hospital Krankenhaus n Krankenhäuser in in; forest Wald m Wälder in in;
        city Stadt f Städte in in; village Dorf n Dörfer in in; museum Museum n Museen in in;
        restaurant Restaurant n Restaurants in in; office Büro n Büros in in;
        castle Schloss n Schlösser in in; station Bahnhof m Bahnhöfe at an;
        lake See m Seen at an; market Markt m Märkte at auf; bridge Brücke f Brücken on auf;
        island Insel f Inseln on auf; roof Dach n Dächer on auf; street Straße f Straßen in auf""",
}
NOUNS = {kind: nouns(table, kind) for kind, table in _NOUNS.items()}


def _members(kind: str, members: str) -> list:
    return [noun for noun in NOUNS[kind] if noun.source in members.split()]


KIN = _members(
    "person",
    "friend neighbour mother father brother sister uncle aunt daughter son colleague",
)
PROFESSIONS = _members(
    "person", "teacher doctor student singer painter soldier judge actress queen"
)

# --- Adjectives ----------------------------------------------------------------------------------

_ADJECTIVES = {
    "person": """
        young jung; old alt; happy glücklich; sad traurig; rich reich; poor arm; famous berühmt;
        friendly freundlich; tired müde/müd; hungry hungrig; strong stark; clever klug; brave mutig;
        angry wütend; ill krank; polite höflich; lazy faul; proud stolz""",
    "animal": """
        young jung; old alt; hungry hungrig; tired müde/müd; strong stark; brave mutig; small klein;
        big groß; black schwarz; white weiß; beautiful schön; dangerous gefährlich; lazy faul""",
    "thing": """
        new neu; old alt; small klein; big groß; beautiful schön; expensive teuer/teur;
        cheap billig; heavy schwer; red rot; blue blau; green grün; black schwarz; white weiß;
        dirty schmutzig""",
    "text": """
        long lang; short kurz; new neu; old alt; important wichtig; interesting interessant;
        funny lustig; sad traurig; beautiful schön; difficult schwierig""",
    "food": """
        fresh frisch; good gut; sweet süß; sour sauer/saur; warm warm; cold kalt; cheap billig;
        expensive teuer/teur""",
    "place": """
        small klein; big groß; old alt; new neu; beautiful schön; quiet ruhig; dark dunkel/dunkl;
        famous berühmt; modern modern; dangerous gefährlich""",
}
ADJECTIVES = {kind: adjectives(table) for kind, table in _ADJECTIVES.items()}
ADJECTIVES["furniture"] = ADJECTIVES["container"] = ADJECTIVES["thing"]
ADJECTIVES["drink"] = ADJECTIVES["food"]
COMPARATIVES = adjectives("""
    older älter; younger jünger; stronger stärker; richer reicher; poorer ärmer;
    happier glücklicher; faster schneller""")
DEGREES = adjectives("very sehr; too zu; quite ziemlich; really wirklich")

# --- Verbs: the keys name the constituents that the verbs take -----------------------------------

_VERBS = {
    "animate": """
        sleep/slept/slept schlafen schläft schlief geschlafen; wake_up/woke_up/woken_up
        auf|wachen sein; swim/swam/swum schwimmen schwimmt schwamm geschwommen sein;
        run/ran/run laufen läuft lief gelaufen sein""",
    "intransitive": """
        laugh lachen; cry weinen; work arbeiten; dance tanzen; sing/sang/sung singen singt sang
        gesungen; get_up/got_up/got_up auf|stehen steht stand gestanden sein; arrive an|kommen
        kommt kam gekommen sein""",
    "living": """
        see/saw/seen sehen sieht sah gesehen; hear/heard/heard hören; love lieben; save retten;
        find/found/found finden findet fand gefunden; look_at an|sehen sieht sah gesehen""",
    "person": """
        know/knew/known kennen kennt kannte gekannt; visit besuchen; ask fragen;
        call an|rufen ruft rief gerufen; invite ein|laden lädt lud geladen;
        meet/met/met treffen trifft traf getroffen; collect ab|holen; forget/forgot/forgotten
        vergessen vergisst vergaß vergessen; understand/understood/understood verstehen versteht
        verstand verstanden""",
    "dative": """
        help helfen hilft half geholfen; thank danken; follow folgen sein; trust vertrauen;
        answer antworten; listen_to zu|hören""",
    "thing": """
        buy/bought/bought kaufen; sell/sold/sold verkaufen; repair reparieren;
        lose/lost/lost verlieren verliert verlor verloren; steal/stole/stolen stehlen stiehlt stahl
        gestohlen; choose/chose/chosen aus|wählen; take_along/took_along/taken_along mit|nehmen
        nimmt nahm genommen; bring_back/brought_back/brought_back zurück|bringen bringt brachte
        gebracht""",
    "container": """
        open öffnen; close schließen schließt schloss geschlossen; paint bemalen""",
    "text": """
        write/wrote/written schreiben schreibt schrieb geschrieben; translate übersetzen übersetzt
        übersetzte übersetzt; copy ab|schreiben schreibt schrieb geschrieben""",
    "food": """
        eat/ate/eaten essen isst aß gegessen; cook kochen; bring_along/brought_along/brought_along
        mit|bringen bringt brachte gebracht""",
    "drink": "drink/drank/drunk trinken trinkt trank getrunken; order bestellen",
    "place": "leave/left/left verlassen verlässt verließ verlassen; build/built/built bauen",
    "giving": """
        give/gave/given geben gibt gab gegeben; show/showed/shown zeigen; send/sent/sent schicken;
        offer an|bieten bietet bot geboten; bring/brought/brought bringen bringt brachte gebracht
        """,
    "motion": """
        go/went/gone gehen geht ging gegangen sein; drive/drove/driven fahren fährt fuhr gefahren
        sein; fly/flew/flown fliegen fliegt flog geflogen sein; travel/travelled/travelled reisen
        sein; come_back/came_back/come_back zurück|kommen kommt kam gekommen sein""",
    "located": """
        live wohnen; sit/sat/sat sitzen sitzt saß gesessen; wait warten; work arbeiten;
        play spielen; stand/stood/stood stehen steht stand gestanden""",
    "placing": "throw/threw/thrown werfen wirft warf geworfen; place stellen",
    "saying": """
        say/said/said sagen; know/knew/known wissen weiß wusste gewusst; believe glauben;
        hope hoffen; think/thought/thought denken denkt dachte gedacht; hear/heard/heard hören;
        write/wrote/written schreiben schreibt schrieb geschrieben""",
    "asking": """
        ask fragen; know/knew/known wissen weiß wusste gewusst; forget/forgot/forgotten vergessen
        vergisst vergaß vergessen""",
    "trying": """
        try versuchen; hope hoffen; begin/began/begun beginnen beginnt begann begonnen;
        forget/forgot/forgotten vergessen vergisst vergaß vergessen; start an|fangen fängt fing
        gefangen; promise versprechen verspricht versprach versprochen""",
}
VERBS = {group: verbs(table) for group, table in _VERBS.items()}
# Verb, English and German preposition, and the case of its object.
PREPOSITIONAL_VERBS = [
    (verb(row), source, target, case)
    for row, source, target, case in phrases("""
        wait warten|for|auf|acc; think/thought/thought denken denkt dachte gedacht|of|an|acc;
        dream träumen|of|von|dat; talk reden|about|über|acc; laugh lachen|about|über|acc;
        believe glauben|in|an|acc; work arbeiten|for|für|acc; play spielen|with|mit|dat;
        speak/spoke/spoken sprechen spricht sprach gesprochen|with|mit|dat;
        write/wrote/written schreiben schreibt schrieb geschrieben|to|an|acc;
        fight/fought/fought kämpfen|against|gegen|acc""")
]
STAND, BELONG, COST = VERBS["located"][-1], verb("belong gehören"), verb("cost/cost/cost kosten")
HAVE = verb("have/had/had haben hat hatte gehabt")._replace(present=("have", "has", "have"))
_SEIN = ("sein", ("bin", "ist", "sind"), ("war", "war", "waren"), "gewesen", "", True)
BE = Verb("be", ("am", "is", "are"), ("was", "was", "were"), "been", "", *_SEIN, auxiliary=True)
DO = (("do", "does", "do"), ("did", "did", "did"))
WERDEN = (("werde", "wird", "werden"), ("wurde", "wurde", "wurden"))
_WANT = verb("want wollen will wollte gewollt")
MODALS = {
    "can": modal("can", "kann kann können"),
    "could": modal("could", "konnte konnte konnten"),
    "must": modal("must", "muss muss müssen"),
    "may": modal("may", "darf darf dürfen"),
    "should": modal("should", "sollte sollte sollten"),
    "will": modal("will", "werde wird werden"),
    "wants": Modal(_WANT, "present", ("will", "will", "wollen")),
    "wanted": Modal(_WANT, "past", ("wollte", "wollte", "wollten")),
    "had": Modal(HAVE, "past", ("musste", "musste", "mussten")),
}

# --- Fixed phrases: linked word by word; `_` joins words that are linked to one word -------------

_ANY_TIME = """
    in_the morning|am Morgen; in_the evening|am Abend; in the night|in der Nacht;
    at noon|am Mittag; in summer|im Sommer; in winter|im Winter; at_the weekend|am Wochenende;"""
TIMES = {
    group: phrases(_ANY_TIME + table)
    for group, table in {
        "present": "today|heute; now|jetzt; every day|jeden Tag; every year|jedes Jahr",
        "past": """
            yesterday|gestern; last week|letzte Woche; last month|letzten Monat;
            last year|letztes Jahr""",
        "future": """
            today|heute; tomorrow|morgen; soon|bald; next week|nächste Woche;
            next month|nächsten Monat; next year|nächstes Jahr""",
    }.items()
}
WEEKDAYS = phrases("""
    Monday|Montag; Tuesday|Dienstag; Wednesday|Mittwoch; Thursday|Donnerstag; Friday|Freitag;
    Saturday|Samstag; Sunday|Sonntag""")
MONTHS = phrases("""
    January|Januar; February|Februar; March|März; April|April; May|Mai; June|Juni; July|Juli;
    August|August; September|September; October|Oktober; November|November; December|Dezember""")
SPANS = phrases("days|Tagen; weeks|Wochen; months|Monaten; years|Jahren; hours|Stunden")
# Adverbs before the English verb, by the tense.
ADVERBS = {
    "present": phrases("often|oft; always|immer; never|nie; sometimes|manchmal; also|auch"),
    "past": phrases("often|oft; always|immer; never|nie; sometimes|manchmal"),
    "perfect": phrases("already|schon; just|gerade; never|nie; often|oft"),
    "modal": phrases("always|immer; also|auch; often|oft"),
}
MANNERS = phrases("quickly|schnell; slowly|langsam; carefully|vorsichtig; alone|allein")
# Dative for places, accusative for directions.
POSITIONS = phrases("on|auf; under|unter; behind|hinter; beside|neben")
# English conjunctions, and the German ones in the present and in the past.
CONJUNCTIONS = phrases("""
    because|weil|weil; although|obwohl|obwohl; when|wenn|als; if|wenn|; while|während|während;
    before|bevor|bevor; after|nachdem|nachdem; so that|damit|damit""")
