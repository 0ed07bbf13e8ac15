"""Does a text hold a credential? A safety net: it knows what common ones look like.

Every pattern is bounded, so the time is linear in the text.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from keeproom.vault.pattern import Pattern
from keeproom.vault.text import visible

# Tokens that say what they are: something every one contains, its kind, its shape.
_MARKED = tuple(
    (needle, kind, Pattern(shape))
    for needle, kind, shape in (
        ("AKIA", "AWS access key", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("ASIA", "AWS access key", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("ABSK", "AWS access key", r"ABSK[A-Za-z0-9+/]{60}"),
        ("gh", "GitHub token", r"gh[pousr]_[A-Za-z0-9]{30}"),
        ("github_pat_", "GitHub token", r"github_pat_[A-Za-z0-9_]{30}"),
        ("gl", "GitLab token", r"gl(?:pat|ptt|dt|rt|cbt|oas|ft|soat|agent|imt)-[\w.-]{20}"),
        ("xox", "Slack token", r"xox[a-z]-[A-Za-z0-9-]{10}"),
        ("xapp-", "Slack token", r"xapp-\d-[A-Za-z0-9-]{10}"),
        (
            "hooks.slack.com",
            "Slack webhook",
            r"hooks\.slack\.com/services/T\w{6,12}/B\w{6,12}/\w{16}",
        ),
        ("k_live_", "Stripe key", r"[sr]k_live_[A-Za-z0-9]{16}"),
        ("k_test_", "Stripe key", r"[sr]k_test_[A-Za-z0-9]{16}"),
        ("whsec_", "Stripe key", r"whsec_[A-Za-z0-9+/]{24}"),
        ("sk-ant-", "Anthropic key", r"sk-ant-[\w-]{20}"),
        (
            "sk-",
            "OpenAI key",
            r"sk-(?:proj-|svcacct-|admin-|or-v1-)?(?=[\w-]{0,40}\d)[A-Za-z0-9_]{20}",
        ),
        ("sk-", "OpenAI key", r"sk-(?:proj|svcacct|admin)-(?=[\w-]{0,40}\d)[\w-]{40}"),
        ("AIza", "Google key", r"AIza[\w-]{35}"),
        ("GOCSPX-", "Google key", r"GOCSPX-[\w-]{20}"),
        ("ya29.", "Google token", r"ya29\.[\w-]{20}"),
        ("1//0", "Google token", r"1//0[\w-]{30}"),
        ("npm_", "npm token", r"npm_[A-Za-z0-9]{36}"),
        ("pypi-", "PyPI token", r"pypi-Ag[\w-]{40}"),
        ("SG.", "SendGrid key", r"SG\.[\w-]{16,32}\.[\w-]{16}"),
        ("SK", "Twilio key", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
        (":AA", "Telegram token", r"\d{8,10}:AA[\w-]{32}"),
        ("hf_", "Hugging Face token", r"hf_[A-Za-z0-9]{30}"),
        ("gsk_", "Groq key", r"gsk_[A-Za-z0-9]{30}"),
        ("xai-", "xAI key", r"xai-[A-Za-z0-9]{40}"),
        ("pplx-", "Perplexity key", r"pplx-[A-Za-z0-9]{40}"),
        ("_v1_", "DigitalOcean token", r"do[opr]_v1_[0-9a-f]{40}"),
        ("shp", "Shopify token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
        ("dapi", "Databricks token", r"dapi[0-9a-f]{32}"),
        ("ntn_", "Notion token", r"ntn_[A-Za-z0-9]{40}"),
        ("lin_", "Linear key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32}"),
        ("fig", "Figma token", r"fig[dour]_[\w-]{36}"),
        ("kr_", "Keeproom token", r"kr_(?:at|rt|cs)_[\w-]{40}"),
        ("krm_", "Keeproom token", r"krm_[0-9a-z]{10,40}_[\w-]{40}"),
        ("dckr_", "Docker token", r"dckr_[op]at_[\w-]{20}"),
        ("ATATT", "Atlassian token", r"ATATT3[\w=-]{40}"),
        ("hv", "Vault token", r"hv[sbr]\.[\w-]{20}"),
        ("glsa_", "Grafana token", r"glsa_[A-Za-z0-9]{30}"),
        ("sntry", "Sentry token", r"sntry[su]_[\w+/=-]{40}"),
        ("sb", "Supabase key", r"sb(?:p_[0-9a-f]{40}|_secret_[\w-]{20})"),
        ("PMAK-", "Postman key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{30}"),
        ("-us", "Mailchimp key", r"[0-9a-f]{32}-us\d{1,2}"),
        ("AGE-SECRET", "private key", r"AGE-SECRET-KEY-1[A-Z0-9]{50}"),
        ("AccountKey=", "Azure key", r"AccountKey=[A-Za-z0-9+/]{40}"),
        ("eyJ", "JSON web token", r"eyJ[\w-]{8,2000}\.(?:eyJ)?[\w-]{8,4000}\.[\w-]{8}"),
        ("b3BlbnNzaC1rZXkt", "private key", r"b3BlbnNzaC1rZXktdjE"),
        ("PRIVATE KEY", "private key", r"[-–—]{1,5} ?BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY"),
        ("PuTTY-User", "private key", r"PuTTY-User-Key-File-\d"),
    )
)
_CONNECTION = Pattern(r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@?#]{0,64}:([^\s/@]{3,128})@[\w\[]", re.I)
_BEARS = Pattern("authorization|bearer", re.I)
_BEARER = Pattern(
    r"(?<![A-Za-z0-9])authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}[\w.~+/=-]{8}"
    r"|(?<![A-Za-z0-9])bearer\s{1,3}(?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{20}",
    re.I,
)

# What people call a password, and what they call a key or token. No digit before: 1Password.
_PASSWORD = (
    r"(?<![0-9])(?:pass[ _-]?(?:word|wort|phrase|code|wd)|pwd|kennwort|wachtwoord|lösenord|"
    r"contraseñas?|contrasena|mot de passe|palavra[ -]passe|senha|hasło|heslo|şifre|parolă|"
    r"parola d'ordine|парол[ьяю]|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호)"
)
_KEY = (
    r"(?<![0-9])(?:api[ _-]?(?:key|token|secret|schlüssel|キー|密钥|密鑰|金鑰|-?ключ)|"
    r"(?:access|auth|refresh|bearer|bot|session|secret|private|signing|encryption|client|account|"
    r"webhook|license|recovery|master)[ _-]?(?:access[ _-]?)?(?:key|token|secret|code)|"
    r"secret|token|credentials?|zugangs(?:schlüssel|token)|geheimschlüssel|"
    r"clave (?:de )?(?:api|acceso|secreta)|clé (?:d'?)?(?:api|secrète|d'accès)|"
    r"chiave (?:api|segreta)|chave (?:de )?(?:api|acesso|secreta)|"
    r"ключ api|(?:секретный|api|апи)[ -]ключ|токен|密钥|密鑰|金鑰|令牌|秘密鍵|トークン|토큰)"
)
_FOR = (
    r"(?: \([^)\n]{1,40}\)| (?:for|of|to|on|at|für|vom|zum|de|del|della|do|da|para|pour|du|per|от|"
    r"для) [^\n:=]{1,40}?)?"
)
# Without any of these nothing is said in words: the common case is decided in microseconds.
_NAMES = """
    pass pwd wort lösenord contrase palavra senha hasło heslo şifre parol парол 密 口令 暗証
    パスワード 비밀 암호 key token secret code credential schlüssel clave clé chiave chave
    ключ токен 金鑰 令牌 トークン キー 토큰
"""
_NAMED = tuple(_NAMES.split())
_SET = r"[\"'`*_]{0,3} ?(?::=|=>|->|[:=→])"
_IS = (
    r"(?: (?:is|was|are|ist|war|lautet|es|est|è|é|это|—|–|-)(?: now| jetzt| ahora)?:?(?= )"
    r"|是|为|為|は|が|는|은|이)"
)
_VALUE = r"\s{0,3}([\"'`“”«»‘’「『]?)([!-~À-ÿа-яёА-ЯЁ]{4,200})"
_PASSWORD_TOLD = (
    (True, Pattern(_PASSWORD + _FOR + _SET + _VALUE, re.I)),
    (False, Pattern(_PASSWORD + _FOR + _IS + _VALUE, re.I)),
)
_KEY_TOLD = Pattern(f"{_KEY}{_FOR}(?:{_SET}|{_IS}){_VALUE}", re.I)
_TOLD_AFTER = Pattern(
    r"(?<!\S)[\"'`]?([!-~]{6,100}?)[\"'`]? (?:is|as|ist) (?:my|our|the|his|her|their|mein|das) "
    r"(?:[\w-]{1,20} ){0,2}(?:password|passphrase|passwort|kennwort)(?=[.,;!)]|\s*$)",
    re.I | re.M,
)
_BLOB_AFTER = Pattern(
    _KEY + r"\W{1,4}(?:[a-z]{1,12}\W{1,3}){0,3}([A-Za-z0-9+/_]{32,200}={0,2})(?![\w-])", re.I
)
_PIN = Pattern(
    r"\bPIN(?: code| number)?(?: is|:| =)? ?:? ?(\d{4})(?![\d.,:/-]?\d)(?= ?[.,;!)]| ?$)", re.M
)

_CARD = Pattern(
    r"(?<![A-Za-z0-9_.+])(?<!\d{4}[ -])"
    r"(\d{4}(?:[ .\n-]\d{4}){3}(?:[ .\n-]\d{3})?|\d{4}[ .\n-]\d{6}[ .\n-]\d{4,5}|\d{13,19})"
    r"(?![A-Za-z0-9_]|[.-]\d)"
)
_DIGITS = Pattern(r"\d{4}")
_ISSUER = Pattern(  # Visa, Mastercard, Amex, Diners, Discover, JCB, UnionPay, Mir
    r"4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}"
    r"|62\d{14,17}|220[0-4]\d{12}"
)
_IBAN = Pattern(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_LINE_BREAK = Pattern(r"[ \t]{0,20}\\?\r?\n[ \t]{0,20}")

_PLACEHOLDER = Pattern(
    r"[<{\[%*•x.#_-]|\$[A-Z_({]|(?:os\.|process\.env|env[.:(]|your[-_]|my[-_]|some[-_])", re.I
)
_EXPLANATIONS = """
    also always based basic bearer changed correct different dimenticata empty encrypted
    erforderlich expired false forgot forgotten found from geheim given hashed hidden incorrect
    invalid kept known missing must never none null obligatoire obligatorio oculta olvidada only
    optional oublié protected requerida required reset rotated same saved secret secure shared
    should stored strong that this true unchanged unknown valid vergessen weak what when where
    which with wrong
"""
_EXPLAINED = frozenset(_EXPLANATIONS.split())
# Algorithms, programs, lengths, dates, versions and places are not passwords.
_THING = Pattern(
    r"(?:hmac|sha|md|aes|rsa|bcrypt|scrypt|argon|pbkdf|base|utf|oauth|ed|ecdsa|x|tls|ssl|ascii)"
    r"[-_]?\d{1,5}[\w-]{0,12}|1password\S*|keepass\S*|bitwarden\S*|lastpass\S*|[234]fa|mfa|"
    r"\d{1,5}[-+]?(?:[a-z]{1,4}[-.])?(?:char|digit|bit|byte|letter|word|day|week|month|hour|min)\S*|"
    r"\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+)+|(?:https?://|[/~.])\S*|pass(?:word|wort|phrase)s?\d?",
    re.I,
)
_ID = Pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_NOT_SECRET = Pattern(r"commit|revision|\bsha|hash|checksum|digest|fingerprint|\bid\b", re.I)
_EDGES = "\"'`“”«»‘’「」『』.,;:!?()<>]}"


def secret_kind(text: str) -> str | None:
    """The kind of the first thing that looks like a credential, say "AWS access key"; None when
    nothing does. Full-width letters, invisible characters and line breaks hide nothing."""
    for variant in _variants(text):
        kind = _token(variant) or _told(variant) or _card(variant)
        if kind:
            return kind
    return _broken_token(_plain(text)) if "\n" in text else None


def _variants(text: str) -> Iterator[str]:
    yield text
    plain = _plain(text)
    if plain != text:
        yield plain


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", visible(text))


def _token(text: str) -> str | None:
    for needle, kind, shape in _MARKED:
        if needle in text and any(_starts(text, found) for found in shape.finditer(text)):
            return kind
    if "://" in text and any(not _PLACEHOLDER.match(m[1]) for m in _CONNECTION.finditer(text)):
        return "connection string with a password"
    found = _BEARER.search(text) if _BEARS.search(text) else None
    return "authorization header" if found else None


def _starts(text: str, found: re.Match[str]) -> bool:
    """It is not the tail of a longer word."""
    before = text[found.start() - 1 : found.start()]
    return not (before.isascii() and before.isalnum())


def _broken_token(text: str) -> str | None:
    """A token over several lines; where it starts within a joined line cannot be told."""
    joined = _LINE_BREAK.sub("", text)
    for needle, kind, shape in _MARKED:
        if needle in joined and shape.search(joined):
            return kind
    return None


def _told(text: str) -> str | None:
    """Said in words: `password = ...`, `the API key is ...`."""
    lower = text.lower()
    if any(name in lower for name in _NAMED):
        if _tells_password(text):
            return "password"
        if _tells_key(text):
            return "key or token"
    return "PIN" if "PIN" in text and _PIN.search(text) else None


def _tells_password(text: str) -> bool:
    for certain, shape in _PASSWORD_TOLD:
        for found in shape.finditer(text):
            value, at_end = _value(found, text)
            alone = bool(found[1]) or (certain and at_end)
            if _is_password(value, certain=certain, alone=alone):
                return True
    after = _TOLD_AFTER.finditer(text)
    return any(_is_password(found[1], certain=False, alone=False) for found in after)


def _tells_key(text: str) -> bool:
    return any(_is_key(_value(found, text)[0]) for found in _KEY_TOLD.finditer(text)) or any(
        _is_key(found[1]) and not _NOT_SECRET.search(found[0])
        for found in _BLOB_AFTER.finditer(text)
    )


def _value(found: re.Match[str], text: str) -> tuple[str, bool]:
    """What is told, without punctuation, and whether nothing follows."""
    value = found[2].rstrip(_EDGES)
    end = text[found.end(2) : found.end(2) + 1]
    return value, end in ("", "\n", "\r") or found[2][-1:] in (";", ",")


def _is_password(value: str, *, certain: bool, alone: bool) -> bool:
    if len(value) < 4 or value.lower() in _EXPLAINED or _THING.fullmatch(value):
        return False
    if _PLACEHOLDER.match(value) and not any(char.isdigit() for char in value):
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    signs = sum(char in "!@#$%^&*" for char in value)
    if letters and (digits or signs):
        return len(value) >= (4 if certain else 6)
    return digits >= 6 or (digits >= 4 and certain) or (alone and letters >= 4)


def _is_key(value: str) -> bool:
    """Random: a UUID, or a part with letters and digits in turns."""
    if _ID.fullmatch(value):
        return True
    if "://" in value or value[:1] in "/~.<{$":
        return False
    return any(_is_random(part) for part in re.split(r"[-_.:,=&]+", value))


def _is_random(part: str) -> bool:
    if len(part) < 10 or not any(char.isdigit() for char in part):
        return False
    if len(part) >= 20 and part.lower() != part != part.upper():
        return True
    digit = [char.isdigit() for char in part if char.isalnum()]
    return "/" not in part and sum(a != b for a, b in pairwise(digit)) >= 2 and sum(digit) >= 2


def _card(text: str) -> str | None:
    if not _DIGITS.search(text):
        return None
    for found in _CARD.finditer(_IBAN.sub(_without_iban, text)):
        digits = "".join(str(int(char)) for char in found[1] if char.isdigit())
        if _ISSUER.fullmatch(digits) and _luhn(digits):
            return "card number"
    return None


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1: from the right, every second digit doubled and its digits summed."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


def _without_iban(found: re.Match[str]) -> str:
    """ISO 13616: the first four characters last, letters as 10 to 35, modulo 97 is 1."""
    account = found[0].replace(" ", "")
    number = "".join(str(int(char, 36)) for char in account[4:] + account[:4])
    return " " if int(number) % 97 == 1 else found[0]
