"""Hand-written sentences and alignments for every feature of the built-in grammar."""

from random import Random

import pytest

from kerasnmt.data.builtin import constituents, lexicon
from kerasnmt.data.builtin.clause import Clause
from kerasnmt.data.builtin.entries import verb
from kerasnmt.data.builtin.grammar import Grammar
from kerasnmt.data.builtin.lexicon import (
    ADJECTIVES,
    ADVERBS,
    BE,
    HAVE,
    NOUNS,
    TIMES,
    VERBS,
)
from kerasnmt.data.builtin.names import ENDINGS
from kerasnmt.data.builtin.nominals import (
    FIRST,
    PLURAL,
    THIRD,
    Nominal,
    amount,
    date,
    noun_phrase,
    prepositional,
    pronoun,
    pronoun_for,
    relative_pronoun,
)
from kerasnmt.data.builtin.numerals import cardinal, ordinal
from kerasnmt.data.builtin.phrase import Phrase, aligned, linked, words

WORDS = {noun.source: noun for nouns in NOUNS.values() for noun in nouns}
QUALITIES = {adjective.source: adjective for table in ADJECTIVES.values() for adjective in table}
ACTIONS = {verb.prefix + verb.infinitive: verb for group in VERBS.values() for verb in group}


def np(determiner, noun, case="nom", adjective=None, **options):
    quality = QUALITIES[adjective] if adjective else None
    return noun_phrase(WORDS[noun], determiner, case, adjective=quality, **options)


def clause(subject, infinitive, tense="present", agreement=THIRD, **constituents):
    return Clause(subject, agreement, tense, ACTIONS[infinitive], **constituents)


def check(phrase, source, target, alignment=None):
    assert " ".join(word.text for word in phrase.source) == source
    assert " ".join(word.text for word in phrase.target) == target
    if alignment is not None:
        assert " ".join(f"{i}-{j}" for i, j in phrase.links()) == alignment


NOT = linked("not", "nicht")


@pytest.mark.parametrize(
    ("person", "agreement", "source", "target"),
    [
        ("I", FIRST, "I sleep", "ich schlafe"),
        ("she", THIRD, "she sleeps", "sie schläft"),
        ("we", PLURAL, "we sleep", "wir schlafen"),
        ("you", PLURAL, "you sleep", "Sie schlafen"),
    ],
)
def test_subject_and_verb_agree(person, agreement, source, target):
    check(
        clause(pronoun(person, "nom"), "schlafen", agreement=agreement).statement(), source, target
    )


@pytest.mark.parametrize(
    ("tense", "source", "target", "alignment"),
    [
        ("present", "he calls", "er ruft an", "0-0 1-1 1-2"),
        ("past", "he called", "er rief an", "0-0 1-1 1-2"),
        ("perfect", "he has called", "er hat angerufen", "0-0 1-1 2-2"),
        ("pluperfect", "he had called", "er hatte angerufen", "0-0 1-1 2-2"),
        ("can", "he can call", "er kann anrufen", "0-0 1-1 2-2"),
        ("will", "he will call", "er wird anrufen", "0-0 1-1 2-2"),
        ("wants", "he wants to call", "er will anrufen", "0-0 1-1 3-2"),
        ("had", "he had to call", "er musste anrufen", "0-0 1-1 3-2"),
    ],
)
def test_tenses_of_a_separable_verb(tense, source, target, alignment):
    check(clause(pronoun("he", "nom"), "anrufen", tense).statement(), source, target, alignment)


@pytest.mark.parametrize(
    ("tense", "source", "target"),
    [
        ("present", "because the aunt calls", "weil die Tante anruft"),
        ("past", "because the aunt called", "weil die Tante anrief"),
        ("perfect", "because the aunt has called", "weil die Tante angerufen hat"),
        ("must", "because the aunt must call", "weil die Tante anrufen muss"),
    ],
)
def test_verbs_are_last_in_subordinate_clauses(tense, source, target):
    because = linked("because", "weil")
    check(clause(np("the", "aunt"), "anrufen", tense, front=because).subordinate(), source, target)


def test_english_particles_are_linked_to_german_ones():
    bring = clause(pronoun("she", "nom"), "zurückbringen", objects=np("my", "clock", "acc"))
    source, target = "she brings back my clock", "sie bringt meine Uhr zurück"
    check(bring.statement(), source, target, "0-0 1-1 2-4 3-2 4-3")
    bring.front = linked("that", "dass")
    source, target = "that she brings back my clock", "dass sie meine Uhr zurückbringt"
    check(bring.subordinate(), source, target, "0-0 1-1 2-4 3-4 4-2 5-3")


def test_perfect_with_sein_and_a_dative_object():
    followed = clause(np("the", "boy"), "folgen", "perfect", objects=np("the", "lion", "dat"))
    source, target = "the boy has followed the lion", "der Junge ist dem Löwen gefolgt"
    check(followed.statement(), source, target, "0-0 1-1 2-2 3-5 4-3 5-4")


def test_an_adverbial_in_front_puts_the_subject_after_the_verb():
    phrase = clause(np("the", "boy"), "anrufen", "past", objects=np("a", "student", "acc"))
    phrase.front = linked("yesterday", "gestern")
    source = "yesterday the boy called a student"
    target = "gestern rief der Junge einen Studenten an"
    check(phrase.statement(), source, target, "0-0 1-2 2-3 3-1 3-6 4-4 5-5")


def test_time_goes_before_objects_and_place_after_them():
    phrase = clause(pronoun("we", "nom"), "verkaufen", "perfect", PLURAL)
    phrase.objects = np("", "apple", "acc", plural=True)
    phrase.complements = prepositional("at", "auf", np("the", "market", "dat"))
    phrase.adverb = linked("often", "oft")
    source = "we have often sold apples at the market"
    target = "wir haben oft Äpfel auf dem Markt verkauft"
    check(phrase.statement(), source, target, "0-0 1-1 2-2 3-7 4-3 5-4 6-5 7-6")
    phrase = clause(
        pronoun("she", "nom"), "kaufen", "past", time=aligned("last year", "letztes Jahr")
    )
    phrase.objects = np("this", "house", "acc")
    check(
        phrase.statement(), "she bought this house last year", "sie kaufte letztes Jahr dieses Haus"
    )


@pytest.mark.parametrize(
    ("tense", "source", "target", "alignment"),
    [
        ("present", "I do not answer him", "ich antworte ihm nicht", "0-0 2-3 3-1 4-2"),
        ("past", "I did not answer him", "ich antwortete ihm nicht", "0-0 2-3 3-1 4-2"),
        ("perfect", "I have not answered him", "ich habe ihm nicht geantwortet", None),
        ("must", "I must not answer him", "ich darf ihm nicht antworten", "0-0 1-1 2-3 3-4 4-2"),
        ("had", "I did not have to answer him", "ich musste ihm nicht antworten", None),
    ],
)
def test_negation(tense, source, target, alignment):
    him = pronoun("he", "dat")
    phrase = clause(pronoun("I", "nom"), "antworten", tense, FIRST, negation=NOT, pronouns=him)
    check(phrase.statement(), source, target, alignment)


@pytest.mark.parametrize(
    ("noun", "determiner", "plural", "source", "target"),
    [
        ("dog", "a", False, "he does not have a dog", "er hat keinen Hund"),
        ("milk", "", False, "he does not have milk", "er hat keine Milch"),
        ("book", "", True, "he does not have books", "er hat keine Bücher"),
    ],
)
def test_not_before_an_indefinite_object_is_kein(noun, determiner, plural, source, target):
    key = object()
    thing = np(determiner, noun, "acc", plural=plural, negation=key)
    negation = Phrase(words("not", key))
    phrase = Clause(pronoun("he", "nom"), verb=HAVE, objects=thing, negation=negation).statement()
    check(phrase, source, target)
    assert (2, 2) in phrase.links()


def test_passive():
    by = prepositional("by", "von", np("the", "student", "dat"))
    letter = clause(np("the", "letter"), "schreiben", "past", passive=True, complements=by)
    source = "the letter was written by the student"
    target = "der Brief wurde vom Studenten geschrieben"
    check(letter.statement(), source, target, "0-0 1-1 2-2 3-5 4-3 5-3 6-4")
    must = clause(np("this", "car"), "reparieren", "must", passive=True)
    check(must.statement(), "this car must be repaired", "dieses Auto muss repariert werden")
    has = clause(
        np("this", "car"), "reparieren", "perfect", passive=True, front=linked("if", "wenn")
    )
    source = "if this car has been repaired"
    check(
        has.subordinate(),
        source,
        "wenn dieses Auto repariert worden ist",
        "0-0 1-1 2-2 3-5 4-4 5-3",
    )


def test_questions():
    help_me = clause(np("the", "queen"), "helfen", pronouns=pronoun("I", "dat"))
    check(help_me.question(), "does the queen help me", "hilft mir die Königin", "1-2 2-3 3-0 4-1")
    help_me.tense, help_me.front = "perfect", linked("why", "warum")
    source, target = "why has the queen helped me", "warum hat mir die Königin geholfen"
    check(help_me.question(), source, target, "0-0 1-1 2-3 3-4 4-5 5-2")
    help_me.subject = pronoun("she", "nom")
    check(help_me.question(), "why has she helped me", "warum hat sie mir geholfen")
    old = Clause(np("your", "house"), verb=BE, complements=linked("old", "alt"))
    check(old.question(), "is your house old", "ist Ihr Haus alt")


def test_infinitives_with_zu():
    call = clause(Phrase(), "anrufen", objects=np("the", "neighbour", "acc"))
    source, target = "to call the neighbour", ", den Nachbarn anzurufen"
    check(call.infinitive(), source, target, "0-0 0-3 1-3 2-1 3-2")
    close = clause(Phrase(), "schließen", objects=np("the", "door", "acc"))
    source, target = "in order to close the door", ", um die Tür zu schließen"
    check(close.infinitive(purpose=True), source, target, "0-0 0-1 1-0 1-1 2-4 3-5 4-2 5-3")


@pytest.mark.parametrize(
    ("phrase", "nominative", "accusative", "dative"),
    [
        (("the", "man", "old"), "der alte Mann", "den alten Mann", "dem alten Mann"),
        (("a", "man", "old"), "ein alter Mann", "einen alten Mann", "einem alten Mann"),
        (("the", "cat", "big"), "die große Katze", "die große Katze", "der großen Katze"),
        (("no", "cat", "big"), "keine große Katze", "keine große Katze", "keiner großen Katze"),
        (
            ("this", "horse", "big"),
            "dieses große Pferd",
            "dieses große Pferd",
            "diesem großen Pferd",
        ),
        (
            ("our", "horse", "big"),
            "unser großes Pferd",
            "unser großes Pferd",
            "unserem großen Pferd",
        ),
        (("", "coffee", "cold"), "kalter Kaffee", "kalten Kaffee", "kaltem Kaffee"),
        (("", "milk", "cold"), "kalte Milch", "kalte Milch", "kalter Milch"),
        (("", "beer", "cold"), "kaltes Bier", "kaltes Bier", "kaltem Bier"),
        (("every", "boy", "tired"), "jeder müde Junge", "jeden müden Jungen", "jedem müden Jungen"),
        (("a", "lake", "dark"), "ein dunkler See", "einen dunklen See", "einem dunklen See"),
    ],
)
def test_singular_endings(phrase, nominative, accusative, dative):
    for case, expected in zip(("nom", "acc", "dat"), (nominative, accusative, dative), strict=True):
        assert " ".join(word.text for word in np(*phrase[:2], case, phrase[2]).target) == expected


@pytest.mark.parametrize(
    ("phrase", "nominative", "dative"),
    [
        (("the", "child", "young"), "die jungen Kinder", "den jungen Kindern"),
        (("my", "child", "young"), "meine jungen Kinder", "meinen jungen Kindern"),
        (("all", "child", "young"), "alle jungen Kinder", "allen jungen Kindern"),
        (("", "child", "young"), "junge Kinder", "jungen Kindern"),
        (("some", "child", "young"), "einige junge Kinder", "einigen jungen Kindern"),
        (("the", "car", "new"), "die neuen Autos", "den neuen Autos"),
        (("few", "woman", "old"), "wenige alte Frauen", "wenigen alten Frauen"),
    ],
)
def test_plural_endings(phrase, nominative, dative):
    for case, expected in (("nom", nominative), ("acc", nominative), ("dat", dative)):
        found = np(*phrase[:2], case, phrase[2], plural=True).target
        assert " ".join(word.text for word in found) == expected


def test_noun_phrases_are_linked_word_by_word():
    phrase = np("the", "dog", "dat", "small", number=24)
    source, target = "the twenty-four small dogs", "den vierundzwanzig kleinen Hunden"
    check(phrase, source, target, "0-0 1-1 2-2 3-3")
    check(np("a", "egg", "acc"), "an egg", "ein Ei")
    check(np("a", "house", "acc", "old"), "an old house", "ein altes Haus")


@pytest.mark.parametrize(
    ("preposition", "noun", "case", "source", "target", "alignment"),
    [
        ("in in", "garden", "dat", "in the garden", "im Garten", "0-0 1-0 2-1"),
        ("into in", "office", "acc", "into the office", "ins Büro", "0-0 1-0 2-1"),
        ("into in", "forest", "acc", "into the forest", "in den Wald", "0-0 1-1 2-2"),
        ("to zu", "school", "dat", "to the school", "zur Schule", "0-0 1-0 2-1"),
        ("by von", "king", "dat", "by the king", "vom König", "0-0 1-0 2-1"),
        ("for auf", "child", "acc", "for the child", "auf das Kind", "0-0 1-1 2-2"),
    ],
)
def test_prepositions(preposition, noun, case, source, target, alignment):
    phrase = prepositional(*preposition.split(), np("the", noun, case))
    check(phrase, source, target, alignment)


@pytest.mark.parametrize(
    ("noun", "case", "preposition", "plural", "source", "target"),
    [
        ("man", "nom", (), False, "who", ", der"),
        ("man", "acc", (), False, "whom", ", den"),
        ("woman", "dat", ("of", "von"), False, "of whom", ", von der"),
        ("book", "acc", (), False, "that", ", das"),
        ("house", "dat", ("in", "in"), False, "in which", ", in dem"),
        ("child", "dat", ("with", "mit"), True, "with whom", ", mit denen"),
    ],
)
def test_relative_pronouns(noun, case, preposition, plural, source, target):
    entry = WORDS[noun]
    head = Nominal(Phrase(), PLURAL if plural else THIRD, entry.gender, entry.kind)
    check(relative_pronoun(head, case, *preposition), source, target)


def test_relative_clauses():
    dog = Nominal(np("the", "dog"), gender="m", kind="animal")
    sleeps = clause(relative_pronoun(dog, "nom"), "schlafen")
    source, target = "the dog that sleeps", "der Hund , der schläft"
    check(dog.phrase + sleeps.subordinate(), source, target, "0-0 1-1 2-2 2-3 3-4")
    miranda = Nominal(linked("Miranda", "Miranda"), gender="f", name=True)
    front = relative_pronoun(miranda, "acc")
    called = clause(pronoun("he", "nom"), "anrufen", "perfect", front=front).subordinate()
    source = "Miranda , whom he has called"
    target = "Miranda , die er angerufen hat"
    check(miranda.phrase + called, source, target, "0-0 1-1 2-2 3-3 4-5 5-4")


def test_pronouns_take_up_gender():
    names = {"dog": "it er", "cat": "it sie", "horse": "it es", "king": "he er", "queen": "she sie"}
    for noun, expected in names.items():
        entry = WORDS[noun]
        follower = pronoun_for(Nominal(np("the", noun), gender=entry.gender, kind=entry.kind))
        check(follower.phrase, *expected.split(), "0-0")
    check(pronoun_for(Nominal(np("the", "dog", plural=True), PLURAL)).phrase, "they", "sie")
    polite = pronoun_for(Nominal(pronoun("you", "nom"), PLURAL, person="you"))
    check(polite.phrase, "you", "Sie")


@pytest.mark.parametrize(
    ("number", "english", "german", "ordinal_english", "ordinal_german"),
    [
        (1, "one", "eins", "first", "erst"),
        (3, "three", "drei", "third", "dritt"),
        (7, "seven", "sieben", "seventh", "siebt"),
        (8, "eight", "acht", "eighth", "acht"),
        (12, "twelve", "zwölf", "twelfth", "zwölft"),
        (16, "sixteen", "sechzehn", "sixteenth", "sechzehnt"),
        (20, "twenty", "zwanzig", "twentieth", "zwanzigst"),
        (24, "twenty-four", "vierundzwanzig", "twenty-fourth", "vierundzwanzigst"),
        (31, "thirty-one", "einunddreißig", "thirty-first", "einunddreißigst"),
        (77, "seventy-seven", "siebenundsiebzig", "seventy-seventh", "siebenundsiebzigst"),
    ],
)
def test_numbers(number, english, german, ordinal_english, ordinal_german):
    assert cardinal(number) == (english, german)
    assert ordinal(number) == (ordinal_english, ordinal_german)


def test_numbers_outside_the_range():
    assert len({cardinal(number) for number in range(1, 100)}) == 99
    with pytest.raises(ValueError, match=r"number from 1 to 99. Received: number=100. Write"):
        cardinal(100)
    check(amount(978), "978", "978")


def test_dates():
    source, target = "on the third of May", "am dritten Mai"
    check(date(3, ("May", "Mai")), source, target, "0-0 1-0 2-1 4-2")
    source, target = "on the twenty-first of March 1987", "am einundzwanzigsten März 1987"
    check(date(21, ("March", "März"), 1987), source, target, "0-0 1-0 2-1 4-2 5-3")


def test_weak_and_irregular_verbs_are_read():
    entry = verb("copy ab|schreiben schreibt schrieb geschrieben")
    assert entry.present == ("copy", "copies", "copy")
    assert entry.past == ("copied", "copied", "copied")
    assert (entry.prefix, entry.infinitive) == ("ab", "schreiben")
    assert entry.target_past == ("schrieb", "schrieb", "schrieben")
    works = verb("work arbeiten")
    assert works.target_present == ("arbeite", "arbeitet", "arbeiten")
    assert works.target_past == ("arbeitete", "arbeitete", "arbeiteten")
    assert works.target_participle == "gearbeitet"
    assert verb("visit besuchen").target_participle == "besucht"
    assert verb("repair reparieren").target_participle == "repariert"
    wake = verb("wake_up/woke_up/woken_up auf|wachen sein")
    assert (wake.base, wake.particle, wake.participle) == ("wake", "up", "woken")
    assert wake.perfect_with_sein


def test_one_english_sentence_has_one_translation(monkeypatch):
    # With few words of each kind, the same English sentence occurs repeatedly.
    for table in (NOUNS, ADJECTIVES, VERBS, TIMES, ADVERBS):
        for kind, entries in table.items():
            monkeypatch.setitem(table, kind, entries[:1])
    for name in ("PREPOSITIONAL_VERBS", "WEEKDAYS", "MONTHS", "SPANS", "MANNERS", "POSITIONS"):
        monkeypatch.setattr(lexicon, name, getattr(lexicon, name)[:1])
    monkeypatch.setattr(Grammar, "_between", lambda self, low, high: low)
    monkeypatch.setattr(
        constituents,
        "draw_name",
        lambda rng, kind, unseen: rng.choice("BDFGKLMN") + ENDINGS[kind][0],
    )
    grammar = Grammar(Random(3))
    translations = {}
    repeated = 0
    for _ in range(20_000):
        phrase = grammar.sentence().phrase
        source = " ".join(word.text for word in phrase.source)
        target = " ".join(word.text for word in phrase.target)
        repeated += source in translations
        assert translations.setdefault(source, target) == target, source
    assert repeated > 100
