"""What the shop sells: each thing with its names in Portuguese, Romanian and English, and its two prices."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Product:
    """One thing on the shelf.

    Attributes:
        sku: Its number.
        name_pt: Its name in Portuguese.
        name_ro: Its name in Romanian.
        name_en: Its name in English.
        price_brl: In centavos.
        price_ron: In bani.
    """

    sku: str
    name_pt: str
    name_ro: str
    name_en: str
    price_brl: int
    price_ron: int


PRODUCTS: Final = (
    Product("ARROZ-5KG", "Arroz branco 5 kg", "Orez alb 5 kg", "White rice 5 kg", 2990, 3190),
    Product("FEIJAO-1KG", "Feijão preto 1 kg", "Fasole neagră 1 kg", "Black beans 1 kg", 890, 1290),
    Product("CAFE-500G", "Café torrado 500 g", "Cafea prăjită 500 g", "Roasted coffee 500 g", 2490, 3490),
    Product("CHA-VERDE", "Chá verde, 40 saquinhos", "Ceai verde, 40 plicuri", "Green tea, 40 bags", 1790, 1890),
    Product("ERVA-MATE", "Erva-mate 1 kg", "Yerba mate 1 kg", "Yerba mate 1 kg", 1990, 4590),
    Product("AZEITE-500", "Azeite extravirgem 500 ml", "Ulei de măsline 500 ml", "Olive oil 500 ml", 4290, 3990),
    Product("MEL-450G", "Mel silvestre 450 g", "Miere polifloră 450 g", "Wildflower honey 450 g", 2690, 2490),
    Product("MACARRAO", "Macarrão espaguete 500 g", "Spaghete 500 g", "Spaghetti 500 g", 590, 690),
    Product("FARINHA-1K", "Farinha de trigo 1 kg", "Făină de grâu 1 kg", "Wheat flour 1 kg", 620, 590),
    Product("ACUCAR-1KG", "Açúcar 1 kg", "Zahăr 1 kg", "Sugar 1 kg", 490, 540),
    Product("FUBA-1KG", "Fubá 1 kg", "Mălai 1 kg", "Corn meal 1 kg", 540, 490),
    Product("CHOCOLATE", "Chocolate amargo 70%", "Ciocolată amăruie 70%", "Dark chocolate 70%", 1590, 1490),
    Product("GRANOLA", "Granola 800 g", "Granola 800 g", "Granola 800 g", 2290, 2190),
    Product("CASTANHA", "Castanha-do-pará 200 g", "Nuci braziliene 200 g", "Brazil nuts 200 g", 2890, 3290),
    Product("DOCE-LEITE", "Doce de leite 400 g", "Dulce de leche 400 g", "Dulce de leche 400 g", 1890, 2790),
    Product("GELEIA", "Geleia de morango", "Gem de căpșuni", "Strawberry jam", 1490, 1290),
    Product("CAFETEIRA", "Cafeteira italiana", "Cafetieră italiană", "Moka pot", 18990, 12990),
    Product("GARRAFA-1L", "Garrafa térmica 1 L", "Termos 1 L", "Thermos 1 L", 14900, 9990),
    Product("TOALHA", "Toalha de banho", "Prosop de baie", "Bath towel", 7400, 5990),
    Product("LENCOL", "Jogo de lençol", "Set de lenjerie de pat", "Bed sheet set", 19990, 17990),
    Product("COBERTOR", "Cobertor de lã", "Pătură de lână", "Wool blanket", 24900, 21900),
    Product("TRAVESSEIRO", "Travesseiro", "Pernă", "Pillow", 8990, 6990),
    Product("FRIGIDEIRA", "Frigideira 24 cm", "Tigaie 24 cm", "Frying pan 24 cm", 11990, 9990),
    Product("PANELA-5L", "Panela de pressão 5 L", "Oală sub presiune 5 L", "Pressure cooker 5 L", 25990, 23990),
    Product("FACA-CHEF", "Faca do chef", "Cuțit de bucătar", "Chef's knife", 13990, 11990),
    Product("TABUA", "Tábua de corte", "Tocător", "Cutting board", 5990, 4990),
    Product("XICARA", "Jogo de xícaras", "Set de cești", "Cup set", 7990, 6990),
    Product("PRATO", "Jogo de pratos", "Set de farfurii", "Plate set", 15990, 13990),
    Product("TALHER", "Faqueiro 24 peças", "Set de tacâmuri 24 piese", "Cutlery set, 24 pieces", 17990, 15990),
    Product("LIQUIDIFIC", "Liquidificador", "Blender", "Blender", 21990, 19990),
    Product("CHALEIRA", "Chaleira elétrica", "Fierbător electric", "Electric kettle", 12990, 11990),
    Product("TORRADEIRA", "Torradeira", "Prăjitor de pâine", "Toaster", 13990, 12990),
    Product("FERRO", "Ferro a vapor", "Fier de călcat", "Steam iron", 15990, 14990),
    Product("ASPIRADOR", "Aspirador de pó", "Aspirator", "Vacuum cleaner", 39990, 37990),
    Product("VENTILADOR", "Ventilador de mesa", "Ventilator de birou", "Desk fan", 14990, 13990),
    Product("LUMINARIA", "Luminária de mesa", "Lampă de birou", "Desk lamp", 9990, 8990),
    Product("LAMPADA", "Lâmpada LED 9 W", "Bec LED 9 W", "LED bulb 9 W", 990, 1190),
    Product("PILHA-AA", "Pilhas AA, 8 unidades", "Baterii AA, 8 bucăți", "AA batteries, 8 pieces", 2990, 2490),
    Product("CABO-USBC", "Cabo USB-C 2 m", "Cablu USB-C 2 m", "USB-C cable 2 m", 3990, 3490),
    Product("CARREGADOR", "Carregador 65 W", "Încărcător 65 W", "Charger 65 W", 14990, 12990),
    Product("FONE", "Fone de ouvido sem fio", "Căști fără fir", "Wireless earbuds", 24990, 22990),
    Product("TECLADO", "Teclado sem fio", "Tastatură fără fir", "Wireless keyboard", 17990, 15990),
    Product("MOUSE", "Mouse sem fio", "Mouse fără fir", "Wireless mouse", 8990, 7990),
    Product("MONITOR-27", "Monitor 27 polegadas", "Monitor 27 inci", "Monitor, 27 inches", 119900, 89900),
    Product("NOTEBOOK", "Notebook 14 polegadas", "Laptop 14 inci", "Laptop, 14 inches", 349900, 299900),
    Product("MOCHILA", "Mochila 25 L", "Rucsac 25 L", "Backpack 25 L", 18990, 16990),
    Product("MALA-M", "Mala média", "Valiză medie", "Medium suitcase", 32990, 29990),
    Product("GUARDA-CHUVA", "Guarda-chuva", "Umbrelă", "Umbrella", 5990, 4990),
    Product("CANETA-12", "Canetas, 12 unidades", "Pixuri, 12 bucăți", "Pens, 12 pieces", 1990, 1790),
    Product("CADERNO", "Caderno 200 folhas", "Caiet 200 de foi", "Notebook, 200 sheets", 2490, 1990),
    Product("LIVRO-COZ", "Livro de receitas", "Carte de bucate", "Cookbook", 6990, 5990),
    Product("QUEBRA-CAB", "Quebra-cabeça 1000 peças", "Puzzle 1000 de piese", "Puzzle, 1000 pieces", 8990, 6990),
    Product("XADREZ", "Jogo de xadrez", "Joc de șah", "Chess set", 9990, 8990),
    Product("BOLA", "Bola de futebol", "Minge de fotbal", "Football", 11990, 9990),
    Product("CORDA", "Corda de pular", "Coardă de sărit", "Skipping rope", 2990, 2490),
    Product("TAPETE-YOGA", "Tapete de ioga", "Saltea de yoga", "Yoga mat", 9990, 8990),
    Product("HALTER-5", "Par de halteres 5 kg", "Pereche de gantere 5 kg", "Pair of dumbbells 5 kg", 15990, 13990),
    Product("CAPACETE", "Capacete de bicicleta", "Cască de bicicletă", "Bicycle helmet", 14990, 12990),
    Product("SABONETE", "Sabonete de coco", "Săpun de cocos", "Coconut soap", 790, 890),
    Product("SHAMPOO", "Xampu 300 ml", "Șampon 300 ml", "Shampoo 300 ml", 1990, 1890),
    Product("PROTETOR", "Protetor solar 200 ml", "Cremă de plajă 200 ml", "Sunscreen 200 ml", 5490, 4990),
    Product("ESCOVA", "Escova de dentes", "Periuță de dinți", "Toothbrush", 1290, 1190),
    Product("VASO", "Vaso de cerâmica", "Ghiveci de ceramică", "Ceramic pot", 4990, 3990),
    Product("REGADOR", "Regador 5 L", "Stropitoare 5 L", "Watering can 5 L", 3990, 3490),
    Product("RACAO-10KG", "Ração para cães 10 kg", "Hrană pentru câini 10 kg", "Dog food 10 kg", 15990, 13990),
)
