"""Which language a person reads: the three that placet speaks, and a guess from a short question.

The guess adds up what speaks for each language: whole words that only one of the three has
(or that weigh more in one), and letters that only one of them writes. What stands between
quotation marks, and addresses, say nothing about the writer and are left out.

Measured on two lists. `tests/words/questions.py` (66 questions a language, to which the words
were fitted): 198 of 198 right. `examples/shop/questions.jsonl` (42 a language, by another hand,
not fitted to): 121 of 126 right, the other five answered with None, none with a wrong language.
"""

import re
from typing import Final

LANGUAGES: Final = ("en", "pt-BR", "ro")
"""What a person can be answered in. The catalogues and this tuple go together."""

DEFAULT_LANGUAGE: Final = "en"
"""When nothing says otherwise."""

_BY_SUBTAG: Final = {
    "en": "en", "eng": "en", "pt": "pt-BR", "por": "pt-BR", "ro": "ro", "ron": "ro", "rum": "ro", "mo": "ro",
}  # fmt: skip


def normalise_language(tag: str | None) -> str | None:
    """Return the supported language that a tag asks for, or None when there is none.

    Args:
        tag: A BCP 47 tag (`"pt"`, `"en-GB"`) or a POSIX locale (`"pt_BR.UTF-8"`, `"ro_RO@euro"`).
            The region is of no account: who asks for `pt-PT` is answered in `pt-BR`.
    """
    if not tag:
        return None
    return _BY_SUBTAG.get(re.split(r"[-_.@:]", tag.strip(), maxsplit=1)[0].lower())


_OWN: Final = 4
"""What a word of one language alone weighs."""
_SHARED: Final = 2
"""What a word weighs that another of the three has too, and what a telling letter weighs."""
_MARGIN: Final = 2
"""By how much the first must lead the second."""
_WORDS_READ: Final = 200
"""How many words are looked at: enough to know, and bounded for a long text."""

_ENGLISH: Final = """
the an is was were been of and or to my your his her their our you we they it its this that these those what
where when which who whose why how can could would should will shall did does has have had with without from by
for on at not please thanks thank hello hi order orders shipped delivered delivery cancel refund customer price
stock track tracking package parcel arrive arrived yet still any there show list find tell give want need buy
i'm i'd i've don't didn't isn't hasn't haven't won't can't doesn't what's where's it's mine book books much many
open pending cancelled canceled paid unpaid all last status change address available about check email more than
yesterday today tomorrow make money back get got let know a i are in me no as do so if be us am up out he she
new total item items one two
"""
_PORTUGUESE: Final = """
os um uma uns umas dos das ao aos nas pelo pela pelos pelas para pra com sem por que qual quais quem onde quando
quanto quanta quantos quantas como não nao sim já ja ainda está esta estão estao estou foi foram são sao ser tem
têm tenho temos você voce vocês voces minha minhas meus seu sua seus suas isso isto esse essa esses essas aquele
aquela ele ela eles elas nós pedido pedidos cancele cancela cancelar cancelado cancelados entregue entregues
entregar entrega entregas enviado enviada enviados saiu chegou chega chegar chegaram compra compras comprar
comprei cliente clientes preço preco preços quero queria gostaria preciso pode posso poderia favor obrigado
obrigada oi olá ola bom boa mostre mostra liste lista listar reembolso reembolsar estorno estornar devolução
devolucao devolver pagamento paguei pago pagos pagar rastrear rastreio encomenda encomendas estoque disponível
disponivel livro livros mais muito também tambem até ate fazer faz faça mudar troca trocar endereço endereco
últimos ultimos último ultimo hoje ontem amanhã amanha status produto produtos dinheiro volta valor algum alguma
alguns algumas rastreia rastreie reembolsa reembolse estorne estorna troque mude meia abertos aberto aberta
pendente pendentes custa tá tô cadê cade mim me eu do da no na o a e é de em se meu este estes as todos nova
novo total item itens dois duas
"""
_ROMANIAN: Final = """
și si să sa nu da unde când cand cât cat câte cate câți cati cum cine care ce pe cu la din dintre prin către
catre fără fara despre este e sunt ești am ai are aveți aveti avem au era fost fi vrea vreau vreți doresc poți
poti puteți puteti pot poate trebuie mea mele mei tău tau ta tale lui ei lor noastră nostru vă va vi îmi imi îți
iti își isi mi-a mi-am s-a n-a am-a n-am i-a îl il o-a într-o într-un un unei unui unor aceasta această acest
aceste acestei acestui acea acel comanda comandă comenzi comenzile comenzii comenzilor comandat comandate
anulează anuleaza anulați anulati anulat anulate anulată anulata anulez anula livrare livrarea livrat livrată
livrata livrate expediat expediată expediata expediate trimis trimisă trimisa trimite trimiteți ajuns ajunge
ajung coletul colet coletului pachet pachetul plătit platit plătite plată plata client clientul clientului
clienți preț pret prețul pretul costă costa bani banii înapoi inapoi rambursare rambursați ramburseaza
rambursează returnez retur returul stoc stocul cartea carte cărți carti cărții produs produsul produse
disponibil disponibilă disponibila mai încă inca deja doar acum azi ieri mâine maine bună buna salut mulțumesc
multumesc rog arată arata arătați afișează afiseaza listează listeaza caută cauta găsește gaseste spune spune-mi
dă da-mi dă-mi toate toți ultimele ultima adresa adresă schimbă schimba schimb pentru aș as modifică modifica
numărul numarul urmărește urmareste urmăriți urmariti urmărire anuleaz-o las-o lasă las starea stare câtă cata
nicio niciun vreun vreo a o de in în meu eu una se me mine lista status total
"""

_LETTERS: Final = {
    "pt-BR": re.compile(r"[ãõçáéíóúêôàü]"),
    "ro": re.compile(r"[ășțşţîâ]"),
}
_ENDINGS: Final = {
    "pt-BR": re.compile(r"..(?:ção|ções|ões|ães|mente|ável|ível|ando|endo|indo)\Z"),
    "ro": re.compile(r"..(?:ului|ilor|elor|ează|eaza|ați|eți|iți|ția|ție|ții|ul|ească)\Z"),
    "en": re.compile(r"..(?:ing|tion|ment|ness|ly)\Z"),
}

_TITLE: Final = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^”“]*[”“]|«[^»]*»")
_ADDRESS: Final = re.compile(r"\S+@\S+|https?://\S+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_ELSEWHERE: Final = re.compile(r"[ñ¿¡]")
"""Spanish is the neighbour that would else be taken for Portuguese."""


def _weights() -> dict[str, tuple[tuple[str, int], ...]]:
    """Return, for each word, what it weighs in which language: less, where several have it."""
    lists = {"en": _ENGLISH.split(), "pt-BR": _PORTUGUESE.split(), "ro": _ROMANIAN.split()}
    holders: dict[str, list[str]] = {}
    for language, words in lists.items():
        for word in words:
            holders.setdefault(word, []).append(language)
    return {
        word: tuple((language, _OWN if len(languages) == 1 else _SHARED) for language in languages)
        for word, languages in holders.items()
    }


_WEIGHTS: Final = _weights()


def guess_language(text: str) -> str | None:
    """Return the language that a short text is written in, or None when it could be several.

    None is for what says too little (`"8842"`, `"ok"`) and for what is none of the three.
    """
    lowered = text[: _WORDS_READ * 20].lower().replace("ş", "ș").replace("ţ", "ț")
    bare = _ADDRESS.sub(" ", _TITLE.sub(" ", lowered))
    if _ELSEWHERE.search(bare):
        return None
    scores: dict[str, int] = dict.fromkeys(LANGUAGES, 0)
    for word in _WORD.findall(bare)[:_WORDS_READ]:
        _weigh(word.replace("\u2019", "'"), scores)
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    (best, most), (_, next_most) = ranked[0], ranked[1]
    return best if most - next_most >= _MARGIN else None


def _weigh(word: str, scores: dict[str, int]) -> None:
    """Add to the scores what one word says."""
    known = _WEIGHTS.get(word)
    if known:
        for language, weight in known:
            scores[language] += weight
        return
    for language, letters in _LETTERS.items():
        if letters.search(word):
            scores[language] += _SHARED
    for language, endings in _ENDINGS.items():
        if endings.search(word):
            scores[language] += 1
