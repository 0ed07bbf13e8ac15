"""The approval page as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from keeproom.api.page import whole
from keeproom.oauth.model import Client, Permission, Permissions
from keeproom.oauth.redirects import Destination


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What the page says. `ticked`: what is allowed if the owner changes nothing; `note`: why it is
    shown again."""

    transaction: str
    client: Client
    where: Destination
    asked: Permissions
    ticked: Permissions
    is_auto: bool
    vaults: Sequence[str]
    owner: str
    host: str
    note: str = ""


_CARD = """\
<form class="card" method="post" action="/authorize" autocomplete="off">
<input type="hidden" name="transaction" value="{transaction}">
<header>
<span class="mark" aria-hidden="true">{mark}</span>
<h1>{name} asks to use your vault</h1>
{proof}
</header>
<div class="where"><span>Access goes to</span><p><b>{where}</b>{here}</p></div>
<div class="vault"><label for="vault">Vault</label>
<div class="select"><select id="vault" name="vault">{vaults}</select>{arrows}</div></div>
<fieldset{described}>
<legend>It may</legend>
{note}{rights}
</fieldset>
<div class="actions">
<button name="decision" value="deny">Deny</button>
<button class="primary" name="decision" value="approve">Approve</button>
</div>
<p class="small">It can never see other vaults, the audit, backups or your sign-in. \
Revoke it at any time in Connected apps.</p>
</form>
<p class="small">Signed in as {owner}</p>"""

_RIGHT = """\
<label class="right"><input type="checkbox" name="{right}" value="1"{state}>\
<span><b>{name}</b><small>{words}</small></span></label>"""

_ICON = (
    '<svg width="{0}" height="{0}" viewBox="0 0 24 24" fill="none" stroke="currentColor" '
    'stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{1}</svg>'
)
_WARNING = _ICON.format(17, '<path d="M12 4 2.8 19.5h18.4Z"/><path d="M12 10v4M12 17v.01"/>')
_VERIFIED = _ICON.format(17, '<circle cx="12" cy="12" r="9"/><path d="m8.5 12.2 2.4 2.4 4.6-4.8"/>')
_ARROWS = _ICON.format(16, '<path d="m8 9 4-4 4 4M16 15l-4 4-4-4"/>')


def asking(shown: Shown) -> str:
    """The page that asks the owner."""
    rights = "\n".join(_right(shown, one) for one in Permission)
    note = f'<p class="note" id="note" role="alert">{escape(shown.note)}</p>' if shown.note else ""
    card = _CARD.format(
        transaction=escape(shown.transaction),
        mark=escape(_mark(shown.client.name)),
        name=f"<bdi>{escape(shown.client.name)}</bdi>",
        proof=_proof(shown),
        where=escape(shown.where.host),
        here=" a program on this computer" if shown.where.here else "",
        vaults="".join(f"<option>{escape(vault)}</option>" for vault in shown.vaults),
        arrows=_ARROWS,
        described=' aria-describedby="note"' if note else "",
        note=note,
        rights=rights,
        owner=escape(shown.owner),
    )
    return whole(f"{shown.client.name} asks to use your vault", shown.host, card)


def _right(shown: Shown, right: Permission) -> str:
    asked = right in shown.asked
    state = (" checked" if right in shown.ticked else "") if asked else " disabled"
    words = _words(right, is_auto=shown.is_auto) if asked else "Not asked for"
    return _RIGHT.format(right=right, state=state, name=right.capitalize(), words=words)


def _words(right: Permission, *, is_auto: bool) -> str:
    match right:
        case Permission.READ:
            return "Recall and list memories in this vault"
        case Permission.PROPOSE:
            return "Suggest memories; you decide in Review"
        case Permission.WRITE:
            now = "auto" if is_auto else "review"
            return f"Save memories by your approval mode, now {now}"
        case Permission.FORGET:
            if is_auto:
                return "Forget memories, at once and for good"
            return "Take memories out of recall; you confirm in Review"


def _proof(shown: Shown) -> str:
    """Who vouches for the name. A name with a document can still be borrowed by any program here,
    since nobody can tell two of them apart."""
    client, told = shown.client, list[str]()
    if client.verified_by:
        domain = escape(client.verified_by)
        told.append(f'<p class="proof">{_VERIFIED}Name verified by {domain}</p>')
        if shown.where.here:
            told.append(
                "<p>Any program on this computer could ask by this name. "
                "Approve only if you started this yourself, just now.</p>"
            )
    else:
        told.append(f'<p class="proof warn">{_WARNING}Self-declared name</p>')
        told.append(
            "<p>Nobody vouches for this name. "
            "Approve only if you started this yourself, just now.</p>"
        )
    if client.flagged:
        told.append('<p class="warn">Hidden characters were taken out of the name.</p>')
    return "\n".join(told)


def _mark(name: str) -> str:
    """Two letters: a picture of its own would borrow trust."""
    words = [word for word in name.split() if word[0].isalnum()]
    if len(words) > 1:
        return (words[0][0] + words[1][0]).upper()
    return (words[0] if words else name)[:2].capitalize()
