"""An agent of the official A2A SDK: one executor behind every way of speaking to it, each with a card of its own.

The port is printed. Cards are at /rpc, /rest, /old-rpc and /old-rest, each followed by /.well-known/agent-card.json.
It does what the first word of its message says: echo, work, ask, fail, raise, refuse, wait.
"""

import asyncio
import socket

import uvicorn
from a2a.helpers import new_data_part, new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.errors import UnsupportedOperationError
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

CANCELED = []


class Executor(AgentExecutor):
    async def execute(self, context, queue):
        words = context.get_user_input()
        verb, _, rest = words.partition(" ")
        if context.current_task:  # the answer to a question of ours
            updater = TaskUpdater(queue, context.task_id, context.context_id)
            await updater.add_artifact([new_text_part(f"a ticket {words}")])
            return await updater.complete()
        if verb == "echo":
            return await queue.enqueue_event(new_text_message(f"you said {rest}", context_id=context.context_id))
        if verb == "raise":
            raise ValueError("the agent stumbled")
        if verb == "refuse":
            raise UnsupportedOperationError(message="not on a Sunday")
        task = new_task_from_user_message(context.message)
        await queue.enqueue_event(task)
        updater = TaskUpdater(queue, task.id, task.context_id)
        said = lambda text: updater.new_agent_message([new_text_part(text)])
        await updater.start_work(said("looking at the map"))
        if verb == "work":
            await asyncio.sleep(0.3)
            await updater.add_artifact([new_text_part(f"a plan for {rest}"), new_data_part({"stops": 3})])
            return await updater.complete(said("have a good journey"))
        if verb == "ask":
            return await updater.requires_input(said("first or second class?"))
        if verb == "wait":
            await asyncio.sleep(600)
        await updater.failed(said("there is no road"))

    async def cancel(self, context, queue):
        CANCELED.append(context.task_id)
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def ways(origin):
    """Every way of speaking to it: where, how, in which version."""
    for place, binding, version in [
        ("rpc", "JSONRPC", "1.0"),
        ("rest", "HTTP+JSON", "1.0"),
        ("old-rpc", "JSONRPC", "0.3"),
        ("old-rest", "HTTP+JSON", "0.3"),
    ]:
        interface = AgentInterface(url=f"{origin}/{place}/", protocol_binding=binding, protocol_version=version)
        skill = AgentSkill(id="trains", name="Itineraries", description="Plans a journey by train", tags=["travel"])
        yield place, binding, AgentCard(
            name="Planner",
            description="Plans journeys.",
            version="1",
            supported_interfaces=[interface],
            capabilities=AgentCapabilities(),
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            skills=[skill],
        )


def routes(origin):
    async def canceled(_):
        return JSONResponse(CANCELED)

    yield Route("/canceled", canceled)
    for place, binding, card in ways(origin):
        handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
        old = place.startswith("old")
        own = create_agent_card_routes(card)
        if binding == "JSONRPC":
            own += create_jsonrpc_routes(handler, "/", enable_v0_3_compat=old)
        else:
            own += create_rest_routes(handler, enable_v0_3_compat=old)
        # Apart: routes of the REST binding take everything that follows them for the name of a tenant.
        yield Mount(f"/{place}", app=Starlette(routes=own))


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
app = Starlette(routes=list(routes(f"http://127.0.0.1:{port}")))
print(port, flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
