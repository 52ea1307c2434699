"""Where the customers live and what they are called: states and județe with their weight, names and streets."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Country:
    """One of the two countries, as the generator needs it.

    Attributes:
        code: ISO 3166-1.
        language: What most customers there speak.
        currency: ISO 4217.
        counties: States or județe: inhabitants in hundred thousands, and the largest city.
        first_names: To draw from.
        last_names: To draw from.
        streets: With a place for the number.
        carriers: Who brings the parcels: share in percent, and the form of the tracking number,
            where `#` is a digit.
    """

    code: str
    language: str
    currency: str
    counties: dict[str, tuple[int, str]]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    streets: tuple[str, ...]
    carriers: dict[str, tuple[int, str]]


BRAZIL: Final = Country(
    code="BR",
    language="pt-BR",
    currency="BRL",
    counties={
        "Acre": (9, "Rio Branco"),
        "Alagoas": (32, "Maceió"),
        "Amapá": (8, "Macapá"),
        "Amazonas": (42, "Manaus"),
        "Bahia": (148, "Salvador"),
        "Ceará": (92, "Fortaleza"),
        "Distrito Federal": (29, "Brasília"),
        "Espírito Santo": (40, "Vitória"),
        "Goiás": (73, "Goiânia"),
        "Maranhão": (70, "São Luís"),
        "Mato Grosso": (38, "Cuiabá"),
        "Mato Grosso do Sul": (29, "Campo Grande"),
        "Minas Gerais": (213, "Belo Horizonte"),
        "Paraná": (118, "Curitiba"),
        "Paraíba": (41, "João Pessoa"),
        "Pará": (86, "Belém"),
        "Pernambuco": (95, "Recife"),
        "Piauí": (33, "Teresina"),
        "Rio Grande do Norte": (34, "Natal"),
        "Rio Grande do Sul": (112, "Porto Alegre"),
        "Rio de Janeiro": (172, "Rio de Janeiro"),
        "Rondônia": (17, "Porto Velho"),
        "Roraima": (7, "Boa Vista"),
        "Santa Catarina": (81, "Florianópolis"),
        "Sergipe": (23, "Aracaju"),
        "São Paulo": (460, "São Paulo"),
        "Tocantins": (16, "Palmas"),
    },
    first_names=(
        "Adriana", "Alice", "Amanda", "Ana", "André", "Antônio", "Beatriz", "Bruna", "Bruno", "Caio", "Camila",
        "Carlos", "Clara", "Daniel", "Débora", "Eduardo", "Fernanda", "Gabriel", "Gustavo", "Helena", "Igor", "Isabela",
        "João", "José", "Júlia", "Larissa", "Laura", "Letícia", "Luana", "Lucas", "Luiz", "Marcos", "Maria", "Mateus",
        "Natália", "Otávio", "Patrícia", "Paulo", "Pedro", "Rafael", "Renata", "Rodrigo", "Sofia", "Thiago", "Vitória",
    ),
    last_names=(
        "Albuquerque", "Almeida", "Alves", "Araújo", "Barbosa", "Barros", "Batista", "Campos", "Cardoso", "Carvalho",
        "Castro", "Correia", "Costa", "Dias", "Duarte", "Farias", "Fernandes", "Ferreira", "Freitas", "Gomes",
        "Gonçalves", "Lima", "Lopes", "Machado", "Marques", "Martins", "Melo", "Mendes", "Monteiro", "Moraes",
        "Moreira", "Nascimento", "Nunes", "Oliveira", "Pereira", "Pinto", "Ramos", "Ribeiro", "Rocha", "Santana",
        "Santos", "Silva", "Souza", "Teixeira", "Vieira",
    ),
    streets=(
        "Rua das Flores, {}", "Avenida Brasil, {}", "Rua XV de Novembro, {}", "Rua Sete de Setembro, {}",
        "Rua Tiradentes, {}", "Avenida Getúlio Vargas, {}", "Rua Santos Dumont, {}", "Rua da Paz, {}",
    ),
    carriers={"Correios": (78, "BR#########BR"), "Jadlog": (22, "##############")},
)  # fmt: skip

ROMANIA: Final = Country(
    code="RO",
    language="ro",
    currency="RON",
    counties={
        "Alba": (33, "Alba Iulia"),
        "Arad": (41, "Arad"),
        "Argeș": (57, "Pitești"),
        "Bacău": (60, "Bacău"),
        "Bihor": (55, "Oradea"),
        "Bistrița-Năsăud": (30, "Bistrița"),
        "Botoșani": (39, "Botoșani"),
        "Brașov": (55, "Brașov"),
        "Brăila": (28, "Brăila"),
        "București": (172, "București"),
        "Buzău": (40, "Buzău"),
        "Caraș-Severin": (25, "Reșița"),
        "Cluj": (68, "Cluj-Napoca"),
        "Constanța": (66, "Constanța"),
        "Covasna": (20, "Sfântu Gheorghe"),
        "Călărași": (28, "Călărași"),
        "Dolj": (60, "Craiova"),
        "Dâmbovița": (48, "Târgoviște"),
        "Galați": (50, "Galați"),
        "Giurgiu": (26, "Giurgiu"),
        "Gorj": (31, "Târgu Jiu"),
        "Harghita": (29, "Miercurea Ciuc"),
        "Hunedoara": (36, "Deva"),
        "Ialomița": (25, "Slobozia"),
        "Iași": (76, "Iași"),
        "Ilfov": (54, "Voluntari"),
        "Maramureș": (45, "Baia Mare"),
        "Mehedinți": (23, "Drobeta-Turnu Severin"),
        "Mureș": (52, "Târgu Mureș"),
        "Neamț": (45, "Piatra Neamț"),
        "Olt": (38, "Slatina"),
        "Prahova": (70, "Ploiești"),
        "Satu Mare": (33, "Satu Mare"),
        "Sibiu": (39, "Sibiu"),
        "Suceava": (64, "Suceava"),
        "Sălaj": (21, "Zalău"),
        "Teleorman": (32, "Alexandria"),
        "Timiș": (65, "Timișoara"),
        "Tulcea": (19, "Tulcea"),
        "Vaslui": (37, "Vaslui"),
        "Vrancea": (34, "Focșani"),
        "Vâlcea": (34, "Râmnicu Vâlcea"),
    },
    first_names=(
        "Adrian", "Alexandra", "Alin", "Ana", "Anca", "Andreea", "Andrei", "Bogdan", "Călin", "Cătălin", "Ciprian",
        "Corina", "Cristian", "Cristina", "Dan", "Daniela", "Dragoș", "Elena", "Emil", "Florin", "Gabriela", "George",
        "Horia", "Ileana", "Ioana", "Ion", "Irina", "Laura", "Liviu", "Lucian", "Maria", "Marius", "Mihai", "Mircea",
        "Monica", "Nicoleta", "Oana", "Ovidiu", "Radu", "Raluca", "Roxana", "Sorin", "Ștefan", "Teodora", "Vlad",
    ),
    last_names=(
        "Albu", "Ardelean", "Avram", "Barbu", "Bogdan", "Bălan", "Cojocaru", "Constantin", "Cristea", "Dima",
        "Diaconu", "Dinu", "Dobre", "Dumitrescu", "Dumitru", "Florea", "Georgescu", "Gheorghe", "Iancu", "Ionescu",
        "Iordache", "Lazăr", "Lungu", "Luca", "Manole", "Marin", "Matei", "Mihai", "Moldovan", "Moraru", "Munteanu",
        "Mureșan", "Neagu", "Nistor", "Oprea", "Petrescu", "Pop", "Popa", "Popescu", "Rusu", "Sandu", "Stan",
        "Stoica", "Toma", "Vasile",
    ),
    streets=(
        "Strada Florilor {}", "Strada Mihai Eminescu {}", "Bulevardul Unirii {}", "Strada Libertății {}",
        "Strada Avram Iancu {}", "Calea Victoriei {}", "Strada Horea {}", "Strada Republicii {}",
    ),
    carriers={"FAN Courier": (45, "2############"), "Cargus": (30, "##########"), "Sameday": (25, "1ONB#########")},
)  # fmt: skip

COUNTRIES: Final = {country.code: country for country in (BRAZIL, ROMANIA)}
