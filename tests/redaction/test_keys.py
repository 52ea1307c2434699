import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.redaction.keys import Secrecy, secrecy
from placet.redaction.shapes import may_hold_secret

SECRET_NAMES = """
password Password PASSWORD passwords passwd pwd userPassword user_password db-password dbpassword password1
passwordHash pass db_pass secret client_secret clientSecret ClientSecret secretKey secrets token accessToken
access_token X-Auth-Token refreshtoken authorization Authorization proxy-authorization cookie Set-Cookie cookies
api_key apiKey APIKey API_KEY apikey x-api-key private_key privateKey PRIVATEKEY access_key AWS_SECRET_ACCESS_KEY
signingKey account_key session_id sessionId credentials pin PIN pin_code pinCode PINCode pincode card.pin cvv CVV2
cvc otp totp passphrase seed_phrase recovery_codes security_code bearer jwt psk auth senha senhaAtual parola
pass_word 2fa_secret parolă parolaNouă contraseña CONTRASEÑA passwort cheie_privată chave-privada X-Amz-Signature sig
2fa_code smsCode seed_words security_answer hmac_key PHPSESSID palavra-passe puk
"""
SECRET = SECRET_NAMES.split()

OPEN_NAMES = """
tokens_used tokensUsed token_count tokenCount max_token_limit token_type tokenExpiresAt token_expires_at
password_required passwordChangedAt pinned pinning pinterest shipping opinion secretary secretariat compass
passenger boarding_pass_count author authority authorised authentication_method authorId keyboard monkey key keys
order_key idempotency_key primary_key code postcode session cookbook address note status name description promo_code
amount pageSize design signal signature session_code answer seed sms
"""
OPEN = OPEN_NAMES.split()


@pytest.mark.parametrize("name", SECRET)
def test_a_field_named_like_a_secret_is_one(name: str) -> None:
    assert secrecy(name) is Secrecy.SECRET


@pytest.mark.parametrize("name", OPEN)
def test_a_field_that_only_sounds_like_a_secret_is_none(name: str) -> None:
    assert secrecy(name) is Secrecy.OPEN


@pytest.mark.parametrize("name", ["tokens", "access_tokens", "input_tokens", "pushTokens"])
def test_tokens_are_secrets_only_as_texts(name: str) -> None:
    assert secrecy(name) is Secrecy.SECRET_TEXT


@given(
    st.lists(st.sampled_from([*SECRET, *OPEN, "x", "1", "_", "-", ".", " ", "é"]), max_size=4).map("".join) | st.text()
)
def test_the_first_glance_misses_no_name_of_a_secret(name: str) -> None:
    assert secrecy(name) is Secrecy.OPEN or may_hold_secret(f'{{"{name}":1}}')


def test_a_name_of_any_length_is_judged() -> None:
    assert secrecy("x" * 100_000 + "_password") is Secrecy.SECRET
    assert secrecy("") is Secrecy.OPEN
