"""What looks like a credential, and what only talks about one.

Every token is made up and put together here, so that no file holds a whole one.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keeproom.vault.secrets import secret_kind

MIXED = "a1B2c3D4e5F6g7H8i9J0"
HEX = "0123456789abcdef"


def joined(*parts: str) -> str:
    return "".join(parts)


AWS = joined("AK", "IA", "QRSTUVWX23456789")

TOKENS = [
    (AWS, "AWS access key"),
    (joined("gh", "p_", MIXED * 2), "GitHub token"),
    (joined("github", "_pat_", MIXED * 4), "GitHub token"),
    (joined("gl", "pat-", MIXED), "GitLab token"),
    (joined("xox", "b-", "123456789012-", MIXED), "Slack token"),
    (joined("https://hooks.slack", ".com/services/T0000000/B0000000/", MIXED), "Slack webhook"),
    (joined("sk", "_live_", MIXED), "Stripe key"),
    (joined("rk", "_test_", MIXED), "Stripe key"),
    (joined("sk", "-", MIXED * 2), "OpenAI key"),
    (joined("sk", "-proj-", "aB_", MIXED * 3), "OpenAI key"),
    (joined("sk", "-ant-", "api03-", MIXED * 4), "Anthropic key"),
    (joined("AI", "za", MIXED, MIXED[:15]), "Google key"),
    (joined("GOC", "SPX-", MIXED), "Google key"),
    (joined("np", "m_", MIXED, MIXED[:16]), "npm token"),
    (joined("py", "pi-", "AgEIc", MIXED * 4), "PyPI token"),
    (joined("S", "G.", MIXED, ".", MIXED * 2), "SendGrid key"),
    (joined("S", "K", HEX * 2), "Twilio key"),
    (joined("123456789", ":A", "A", MIXED * 2), "Telegram token"),
    (joined("h", "f_", MIXED * 2), "Hugging Face token"),
    (joined("k", "rm_", "0123456789abcdef_", MIXED * 3), "Keeproom token"),
    (joined("k", "r_at_", MIXED * 3), "Keeproom token"),
    (joined("AccountKey", "=", MIXED * 4, "=="), "Azure key"),
    (joined("ey", "JhbGciOi", MIXED, ".ey", "Jzd", MIXED, ".", MIXED), "JSON web token"),
    (joined("-----BEGIN RSA ", "PRIVATE KEY-----"), "private key"),
    (joined("-----BEGIN OPENSSH ", "PRIVATE KEY-----"), "private key"),
    (joined("—BEGIN ", "PRIVATE KEY—"), "private key"),
    (joined("PuTTY-User-", "Key-File-3: ssh-ed25519"), "private key"),
    (joined("postgres://ann:", "hunter2@db.lan/app"), "connection string with a password"),
    (joined("mongodb+srv://ann:", "s3cr3t@c.example.net"), "connection string with a password"),
    (joined("redis://:", "hunter2@cache:6379"), "connection string with a password"),
    (joined("Authorization: Bearer ", MIXED), "authorization header"),
    (joined("Authorization: Basic ", "YW5uOmh1bnRlcjI="), "authorization header"),
]


@pytest.mark.parametrize(("token", "kind"), TOKENS)
def test_a_token_is_known_anywhere_in_a_text(token: str, kind: str) -> None:
    assert secret_kind(token) == kind
    assert secret_kind(f"For deployments use\n{token}\nand keep it safe.") == kind
    assert secret_kind(f"部署用{token}。") == kind


@pytest.mark.parametrize(("token", "kind"), TOKENS)
def test_the_start_of_a_token_is_none(token: str, kind: str) -> None:
    assert secret_kind(token[:12]) is None, kind


@pytest.mark.parametrize(
    "text",
    [
        "password = hunter2",
        "password: swordfish",
        "PASSWORD=swordfish",
        "DB_PASSWORD=hunter2",
        '{"password": "hunter2"}',
        "?user=ann&password=swordfish&x=1",
        "The wifi password is Tr0ub4dor&3.",
        "The password for the wifi is hunter22",
        "The password (guest) is hunter22",
        "The password is now 'swordfish'",
        "my password is 83920174",
        "Use hunter2! as my wifi password",
        "passphrase: “purple horse battery staple”",
        "Mein Passwort lautet Geheim123",
        "Das Kennwort ist Sommer2024!",
        "La contraseña es Secreto99",
        "le mot de passe du wifi est azerty123",
        "a senha do wifi é Segredo99",
        "hasło: Tajne123",
        "Пароль: Qwerty123",
        "Пароль от вайфая — hunter22",
        "пароль от почты это Кошка2020",
        "密码是hunter2",
        "密码：abc12345",
        "パスワードは hunter22 です",
        "비밀번호는 hunter22",
    ],
)
def test_a_password_told_in_words_is_known(text: str) -> None:
    assert secret_kind(text) == "password"


@pytest.mark.parametrize(
    "text",
    [
        f"API key is {MIXED[:14]}",
        f"The API Key for OpenWeather is {HEX * 2}",
        f"The api key (prod) = {MIXED}",
        f"export GITHUB_TOKEN={MIXED}",
        f'{{"api_key": "{MIXED}"}}',
        f"client_secret: {HEX * 2}",
        f"aws secret access key {MIXED.replace('1', '/') * 2}",
        f"https://x.example/?token={MIXED}",
        "access token is 123e4567-e89b-12d3-a456-426614174000",
        f"Der API-Schlüssel lautet {MIXED}",
        f"la clave de API es {MIXED}",
        f"la clé API est {MIXED}",
        f"API-ключ: {MIXED}",
        f"API密钥是{MIXED}",
        f"APIキーは {MIXED}",
    ],
)
def test_a_key_told_in_words_is_known(text: str) -> None:
    assert secret_kind(text) == "key or token"


@pytest.mark.parametrize(
    "number",
    [
        *("4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111", "5555.5555.5555.4444"),
        *("3782 822463 10005", "6011 1111 1111 1117", "3530 1113 3330 0000", "3056 930902 5904"),
        *("2223 0031 2200 3222", "card 4111111111111111, 12/27", "4111 1111\n1111 1111"),
        *(
            "４１１１ １１１１ １１１１ １１１１",
            "卡号4111111111111111。",
            "4111\u200b1111\u200b11111111",
        ),
    ],
)
def test_a_card_number_is_known(number: str) -> None:
    assert secret_kind(number) == "card number"


@pytest.mark.parametrize(
    "number",
    [
        *("4111 1111 1111 1112", "9999 9999 9999 9995", "1234567890123456", "0.4111111111111111"),
        *("DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "ISBN 978-3-16-148410-0"),
        *("ISBN 9783161484100", "EAN 4006381333931", "+49 151 23456789", "+1 (415) 555-2671"),
        *("192.168.100.200", "1701388800123456", "order x4111111111111111"),
    ],
)
def test_other_long_numbers_are_no_cards(number: str) -> None:
    assert secret_kind(number) is None


def test_an_iban_with_a_card_number_inside_is_no_card() -> None:
    assert secret_kind("DE89 4111 1111 1111 1111") == "card number"
    assert secret_kind("DE88 4111 1111 1111 1111") is None


@pytest.mark.parametrize(
    "hidden",
    [
        AWS[:4] + "\u200b" + AWS[4:],
        AWS[:9] + "\u2060\u200d" + AWS[9:],
        AWS[:9] + "\n" + AWS[9:],
        AWS[:9] + " \r\n  " + AWS[9:],
        "".join(chr(ord(char) + 0xFEE0) for char in AWS),
        "note\u200b" + AWS,
    ],
)
def test_width_invisible_characters_and_line_breaks_hide_no_token(hidden: str) -> None:
    assert secret_kind(f"key\n{hidden}") == "AWS access key"


def test_a_password_is_known_in_full_width_and_on_the_next_line() -> None:
    assert secret_kind("ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２") == "password"
    assert secret_kind("pass\u200bword:\nhunter2") == "password"


def test_a_pin_is_known() -> None:
    assert secret_kind("My PIN is 4821.") == "PIN"
    assert secret_kind("The PIN is 4-digit") is None
    assert secret_kind("PIN code 560001") is None


@pytest.mark.parametrize(
    "text",
    [
        "The password manager is 1Password",
        "1Password is 4.99USD/month",
        "1Password is our password manager",
        "Prefers passkeys over passwords",
        "API key rotation happens monthly",
        "The token limit is 4096",
        "max_tokens=4096, tokens: 123456",
        "The session id is 123e4567-e89b-12d3-a456-426614174000",
        "Fixed in commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "The token fix is commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "SSH key fingerprint is SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
        "The wifi password is on the fridge",
        "Password: see KeePass2",
        "The password is AES-256 encrypted",
        "The password is 12-characters long",
        "His password is 12 characters long",
        "The password is salted+hashed",
        "Password: required",
        "The password was changed on 2024-05-01",
        "Passwort ist geheim",
        "La parola: amore",
        "パスワードは8文字以上で大文字を含む",
        "密码至少8位",
        "Token: GitHub",
        "API key: Stripe",
        "The secret is project-phoenix-2024",
        "The secret ingredient is cinnamon",
        "The API token is stored in prod/app2 of the vault",
        "The private key is kept in ~/.ssh/id_ed25519",
        "tokenizer: cl100k_base",
        "secretary: John Smith",
        "Password: ${DB_PASSWORD}",
        "API_KEY=<your key>",
        "api_key: process.env.SERVICE_KEY_2",
        "postgres://user:<password>@host/db",
        "postgres://localhost:5432/db",
        "https://example.com:8443/a@b",
        "bearer tokens are used for authorization",
        "Uses sk-learn and scikit-learn 1.2.3",
        "sk-this-is-only-a-very-long-slug",
        "The passcode screen is 6-digit",
        "the access key is ⌘K",
        "Access code: ask Anna",
        "Das Passwort ist 16 Zeichen lang",
        "",
    ],
)
def test_ordinary_memories_are_no_secrets(text: str) -> None:
    assert secret_kind(text) is None


@given(st.text(max_size=80))
def test_any_text_has_an_answer(text: str) -> None:
    kind = secret_kind(text)
    assert kind is None or kind not in text


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "4111 ", "41111", "password ", "password for ", "password is ", "token token: "),
        *("eyJ-", "sk-", "a://a:", "\n", " 'a", "DE89 ", "深", "secret_", "bearer ", "é~"),
    ],
)
def test_long_text_takes_no_longer_than_its_length_warrants(unit: str) -> None:
    started = time.thread_time()
    secret_kind((unit * 8000)[:8000])
    assert time.thread_time() - started < 1
