"""`keeproom status`, `calibrate`, `cleanup`."""

from dataclasses import asdict

from keeproom import compose
from keeproom.cli.terminal import Json, app, opened, progress, say, say_json
from keeproom.oauth import cleanup as oauth_cleanup
from keeproom.oauth.authorization import Authorization
from keeproom.settings import read_settings
from keeproom.vault import retention
from keeproom.vault.model import OWNER, Actor
from keeproom.vault.statistics import statistics
from keeproom.vault.vault import Vault


@app.command()
def status(as_json: Json = False) -> None:
    """Say what the vault holds and how it is."""
    with opened() as here:
        faults = here.vault.memories.audit_faults()
        found = statistics(here.vault)
        held = {**found.by_status, "withdrawn": found.withdrawn}
        told = {
            "home": here.place,
            "memories": {str(name): n for name, n in sorted(held.items()) if n},
            "embedding_model": found.embedding_model,
            "embedding_problem": found.embedding_problem or "none",
            "calibrated": found.calibrated,
            "waiting_for_index": found.waiting,
            "approval_mode": here.vault.memories.settings().approval_mode.value,
            "audit": "whole" if not faults else "broken",
        }
    if as_json:
        say_json(told)
        return
    for name, value in told.items():
        text = ", ".join(f"{n} {k}" for k, n in value.items()) if isinstance(value, dict) else value
        say(f"{name.replace('_', ' '):<18} {text}")


@app.command()
def calibrate(as_json: Json = False) -> None:
    """Measure the embedding model's thresholds from labelled pairs that ship (seconds)."""
    with opened() as here, progress() as bar:
        task = bar.add_task("Embedding", total=None)
        profile = here.profiles.measure(
            told=lambda done, of: bar.update(task, completed=done, total=of)
        )
    told = {
        "model": profile.model,
        "dims": profile.dims,
        "mu": {name or "all": round(value, 4) for name, value in profile.mu.items()},
        "query_mu": profile.query_mu,
        "covers": sorted(profile.covers),
    }
    if as_json:
        say_json(told)
        return
    say(f"Model {profile.model}, {profile.dims} dimensions.")
    for name, value in profile.mu.items():
        say(f"  mean cosine of unrelated memories, {name or 'all scripts'}: {value:.3f}")
    say(f"  mean cosine of questions and unrelated memories: {profile.query_mu:.3f}")
    say(f"  near-duplicates are told apart in: {', '.join(sorted(profile.covers)) or 'none'}")


@app.command()
def cleanup(as_json: Json = False) -> None:
    """Remove what the settings keep no longer; a running vault does so by itself."""
    settings = read_settings()
    with opened() as here, compose.local_authorization(settings, settings.public_url) as auth:
        done, apps = clean_up(here.vault, auth, by=OWNER)
    if as_json:
        told = asdict(done) | {"apps": apps}
        del told["more"]
        say_json(told)
        return
    say(
        f"Removed: {done.superseded} superseded and {done.rejected} rejected memories, "
        f"{done.earlier_texts} earlier texts of edited ones, {done.audit} audit entries, "
        f"{apps} leftovers of apps."
    )


def clean_up(
    vault: Vault, auth: Authorization, *, by: Actor = retention.CLEANUP
) -> tuple[retention.CleanedUp, int]:
    """Of the vault, and how much of what apps and their audit have left. Raises `Unavailable`."""
    done = retention.clean_up(vault, by=by)
    return done, oauth_cleanup.clean_up(auth, audit_before=retention.audit_kept_from(vault))
