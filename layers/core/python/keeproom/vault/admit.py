"""What may enter the vault: clean text without credentials."""

from dataclasses import replace

from keeproom.errors import Invalid, SecretLike
from keeproom.vault.batch import ImportItem, SkipReason
from keeproom.vault.secrets import secret_kind
from keeproom.vault.text import cleaned, cleaned_source, cleaned_tags


def admitted(item: ImportItem) -> ImportItem:
    """The item with its text fields cleaned. Raises `Invalid` for text that cannot be kept and
    `SecretLike` for what looks like a credential, in any field."""
    clean = replace(
        item,
        content=cleaned(item.content),
        source=cleaned_source(item.source),
        tags=cleaned_tags(item.tags),
    )
    refuse_secrets(content=clean.content, source=clean.source, tags="\n".join(clean.tags))
    return clean


def refuse_secrets(**fields: str) -> None:
    """Raises `SecretLike`, naming the field and the kind but never the text."""
    for name, text in fields.items():
        kind = secret_kind(text)
        if kind:
            raise SecretLike(
                f"This looks like it holds a secret ({kind}). Nothing was stored. Keep secrets in "
                "a password manager, and save only where they are kept.",
                param=name,
            )


def admitted_or_refused(item: ImportItem) -> ImportItem:
    """As `admitted`, with what cannot enter emptied and marked instead of raised."""
    if not item.content.strip():
        return ImportItem(content="", refused=SkipReason.EMPTY)
    try:
        return admitted(item)
    except SecretLike:
        return ImportItem(content="", refused=SkipReason.SECRET_LIKE)
    except Invalid:
        return ImportItem(content="", refused=SkipReason.INVALID)
