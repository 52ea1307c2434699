"""Short questions to a shop, as people type them: with and without accents, with titles of other languages."""

ENGLISH = """
Where is order 8842?
Where's my order?
Has my order shipped yet?
Cancel order 8842
Please cancel my last order
I want a refund for order 12
When will my package arrive?
What is the status of order 9120?
Show my open orders
List all my orders
Which orders have not been delivered yet?
Is Dom Casmurro in stock?
Do you have "Memórias Póstumas de Brás Cubas"?
How much is the Hobbit?
How much does shipping cost?
Can I change the delivery address?
Change the address of order 8842
I paid twice, give me my money back
My book arrived damaged
Who is the customer of order 77?
What's the price of item 4?
Track my parcel
track 8842
did my payment go through?
why was my order cancelled?
has it shipped?
hello
hi, can you help me?
thanks a lot
Find customer ana@example.com
Find orders for Maria da Conceição
how many copies of Ion are left?
is the book available?
orders from last week
show pending orders
refund 8842
I'd like to return a book
the parcel never came
Order 8842 is late
what did I buy yesterday?
Any news about 8842?
total of all orders this month
Which customers spent more than 500?
list unpaid orders
mark 8842 as delivered
Can you tell me where my parcel is?
I need an invoice
give me the tracking number
do you ship to Romania?
what payment methods do you accept?
which book sells best?
how long does delivery take?
my order is incomplete
I don't want it anymore
It hasn't arrived
Are there any orders for São Paulo?
remove the second item
add one more copy
Was order 8842 paid?
Open orders of customer c17
who approved the refund?
Do it
yes, cancel it
no, keep it
Where can I see my purchases?
Is there a discount for students?
"""

PORTUGUESE = """
Meu pedido 8842 já saiu?
Cancele o pedido 8842
quais pedidos ainda não foram entregues?
A Dom Casmurro está disponível?
Onde está meu pedido?
onde esta meu pedido 8842
cade meu pedido
Cadê minha encomenda?
Cancela o 8842 por favor
Quero cancelar meu último pedido
Quero meu dinheiro de volta
Qual o status do pedido 9120?
status do pedido 12
Mostre meus pedidos abertos
Liste todos os pedidos
Tem o livro O Cortiço em estoque?
Tem "The Hobbit"?
Quanto custa o frete?
quanto custa
Quanto é o livro?
Posso mudar o endereço de entrega?
Troque o endereço do pedido 8842
Paguei duas vezes
Meu livro chegou rasgado
Quem é o cliente do pedido 77?
Qual o preço do item 4?
Rastrear encomenda
rastreia o 8842
meu pagamento foi aprovado?
por que meu pedido foi cancelado?
já foi enviado?
ja chegou?
oi
olá, pode me ajudar?
muito obrigado
Procure a cliente ana@example.com
Busca os pedidos da Maria
quantos exemplares de Ion restam?
o livro esta disponivel?
pedidos da semana passada
pedidos pendentes
reembolsa o 8842
Gostaria de devolver um livro
a encomenda nunca chegou
O pedido 8842 está atrasado
o que eu comprei ontem?
Alguma novidade do 8842?
total de pedidos deste mês
Quais clientes gastaram mais de 500?
pedidos não pagos
marque o 8842 como entregue
Você pode me dizer onde está minha encomenda?
Preciso da nota fiscal
me passa o código de rastreio
vocês entregam na Romênia?
quais formas de pagamento vocês aceitam?
qual livro vende mais?
quanto tempo demora a entrega?
meu pedido veio incompleto
nao quero mais
Não chegou
tem pedido pra Bucareste?
tire o segundo item
O pedido 8842 foi pago?
sim, pode cancelar
não, deixa como está
"""

ROMANIAN = """
Unde este comanda 8842?
Anulează comanda 12
unde e comanda mea
Unde e coletul meu?
A plecat comanda mea?
Anulați comanda 8842, vă rog
anuleaza ultima comanda
Vreau banii înapoi
vreau sa returnez o carte
Care este starea comenzii 9120?
starea comenzii 12
Arată-mi comenzile deschise
arata toate comenzile
Ce comenzi nu au fost livrate încă?
Este Dom Casmurro disponibilă?
Aveți cartea Ion pe stoc?
Aveti "The Hobbit"?
Cât costă livrarea?
cat costa transportul
Cât costă cartea?
Pot schimba adresa de livrare?
Schimbă adresa comenzii 8842
Am plătit de două ori
Cartea a ajuns ruptă
Cine este clientul comenzii 77?
Ce preț are produsul 4?
Urmărește coletul
urmareste 8842
a trecut plata?
de ce a fost anulată comanda mea?
a fost expediată?
a ajuns?
bună
salut, mă poți ajuta?
mulțumesc frumos
Caută clientul ana@example.com
Găsește comenzile Mariei
câte exemplare din O Cortiço mai sunt?
cartea e disponibila?
comenzile de săptămâna trecută
comenzi in asteptare
ramburseaza 8842
Aș dori să returnez o carte
coletul nu a ajuns
Comanda 8842 întârzie
ce am cumpărat ieri?
Ceva noutăți despre 8842?
totalul comenzilor din luna aceasta
Care clienți au cheltuit peste 500?
comenzi neplătite
marchează 8842 ca livrată
Îmi puteți spune unde este coletul meu?
Am nevoie de factură
dă-mi numărul de urmărire
livrați în Brazilia?
ce metode de plată acceptați?
care carte se vinde cel mai bine?
cât durează livrarea?
comanda mea este incompletă
nu mai vreau
Nu a ajuns
sunt comenzi pentru Cluj?
scoate al doilea produs
A fost plătită comanda 8842?
da, anuleaz-o
nu, las-o așa
"""

QUESTIONS = [
    (language, line)
    for language, lines in (("en", ENGLISH), ("pt-BR", PORTUGUESE), ("ro", ROMANIAN))
    for line in lines.strip().splitlines()
]
