"""The Python SDK, given an address and nothing else: it is told where to sign in, registers, signs in (a browser is played
here), and goes on. Usage: signin.py <url>, then steps on stdin as for the other clients.
"""

import json
import sys
from urllib.parse import parse_qs, urljoin, urlparse

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

REDIRECT = "http://127.0.0.1:9/callback"


class Kept:
    """What a client remembers of its sign-in."""

    def __init__(self):
        self.tokens, self.client = None, None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


answer = {}


async def browse(url):
    """Follows redirects with cookies until the provider sends the browser back to the client."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        for _ in range(20):
            reply = await browser.get(url)
            if "location" not in reply.headers:
                raise RuntimeError(f"the provider answered {reply.status_code}: {reply.text}")
            url = urljoin(url, reply.headers["location"])
            if url.startswith(REDIRECT):
                answer.update({key: values[0] for key, values in parse_qs(urlparse(url).query).items()})
                return
    raise RuntimeError("the provider goes round in circles")


async def came_back():
    return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


async def take(client, step):
    if "list" in step:
        return {"tools": [tool.name for tool in (await client.list_tools()).tools]}
    result = await client.call_tool(step["call"], step.get("arguments"))
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main(url):
    kept = Kept()
    about = OAuthClientMetadata(
        client_name="signin",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    provider = OAuthClientProvider(url, about, kept, browse, came_back)
    async with create_mcp_http_client(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            signed_in = "signed in" if kept.tokens else "not asked to sign in"
            print(json.dumps({"protocol": signed_in, "instructions": client.instructions}), flush=True)
            for line in sys.stdin:
                print(json.dumps(await take(client, json.loads(line))), flush=True)


anyio.run(main, *sys.argv[1:])
