"""The names of AWS, on this machine: an HTTPS proxy that leads every name of AWS's, and those of
the owner's domain, to the emulator and knows no other, with certificates of an authority that
exists for one run."""

import asyncio
import contextlib
import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAMES = (".amazonaws.com", ".amazoncognito.com", ".on.aws", ".example.com")
PEM = serialization.Encoding.PEM


class Authority:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of one test")])
        self.certificate = self._signed(self._name, self._key.public_key(), "")

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey, host: str
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        building = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=not host, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )
        if host:
            names = x509.SubjectAlternativeName([x509.DNSName(host)])
            usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
            building = building.add_extension(names, critical=False)
            building = building.add_extension(usage, critical=False)
        else:
            signs = x509.KeyUsage(
                digital_signature=True, key_cert_sign=True, crl_sign=True,
                content_commitment=False, key_encipherment=False, data_encipherment=False,
                key_agreement=False, encipher_only=False, decipher_only=False,
            )  # fmt: skip
            building = building.add_extension(signs, critical=True)
        return building.sign(self._key, hashes.SHA256())

    @cache  # noqa: B019  one authority a run
    def context(self, host: str) -> ssl.SSLContext:
        """For a server of that name."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        certificate = self._signed(subject, key.public_key(), host)
        chain = self._folder / f"{host[:80]}.pem"
        private = key.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        chain.write_bytes(certificate.public_bytes(PEM) + private)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(chain)
        return context


async def opened(port: int, gateway: int, ca: Path) -> asyncio.Server:
    """A proxy on that port. Whoever trusts the file `ca` trusts what it shows."""
    authority = Authority(ca.parent)
    ca.write_bytes(authority.certificate.public_bytes(PEM))

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await _led(reader, writer, authority, gateway)
        writer.close()

    return await asyncio.start_server(served, "127.0.0.1", port)


async def _led(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authority: Authority, gateway: int
) -> None:
    asked = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split()
    host = asked[1].partition(":")[0]
    if asked[0] != "CONNECT" or not host.endswith(NAMES):
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        return
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await writer.drain()
    await writer.start_tls(authority.context(host))
    inner = await asyncio.open_connection("127.0.0.1", gateway)
    await asyncio.gather(_passed(reader, inner[1]), _passed(inner[0], writer))


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()
