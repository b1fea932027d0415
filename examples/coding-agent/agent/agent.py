"""A small coding agent: one model, two tools, no dependencies. It reports nothing of what it uses.

Usage: agent.py [TASK], or the task on stdin. The model is told by variables:
  AGENT_BASE_URL  address of the API; for AGENT_WIRE=messages without its /v1
  AGENT_API_KEY   key that is sent with every request
  AGENT_MODEL     name of the model
  AGENT_WIRE      chat (OpenAI chat completions), responses (OpenAI responses) or messages (Anthropic)
  AGENT_STREAM    1 = streamed answers
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

SYSTEM = """You mend small programs. You work in the current directory with the tools run and write_file.
Find the cause, change as little as needed, check your change, then say in one or two sentences what you did."""

TOOLS = {
    "run": ("Run a shell command; answers with its output and exit code.", {"command": "string"}),
    "write_file": ("Write a file, in place of what it held.", {"path": "string", "content": "string"}),
}
MAX_TURNS = 30
OUTPUT_LIMIT = 8000


def schema(fields):
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }


def run_tool(name, arguments):
    try:
        if name == "run":
            done = subprocess.run(
                arguments["command"], shell=True, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
            )
            output = (done.stdout + done.stderr)[-OUTPUT_LIMIT:]
            return f"{output}[exit code {done.returncode}]"
        if name == "write_file":
            with open(arguments["path"], "w", encoding="utf-8") as file:
                file.write(arguments["content"])
            return f"wrote {len(arguments['content'])} characters"
        return f"there is no tool {name}; tools: {', '.join(TOOLS)}"
    except (OSError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}: {error}"


def send(path, headers, body):
    """Opens the answer; what may pass is tried again."""
    url = os.environ["AGENT_BASE_URL"].rstrip("/") + path
    data = json.dumps(body).encode()
    for attempt in range(4):
        request = urllib.request.Request(url, data, {"content-type": "application/json", **headers})
        try:
            return urllib.request.urlopen(request, timeout=600)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            passing = error.code in (408, 409, 429, 500, 502, 503, 504, 529)
            if not passing or error.headers.get("x-should-retry") == "false" or attempt == 3:
                sys.exit(f"API error: HTTP {error.code} {text[:500]}")
            time.sleep(min(10, float(error.headers.get("retry-after") or 2**attempt)))
        except urllib.error.URLError as error:
            if attempt == 3:
                sys.exit(f"API error: {error.reason}")
            time.sleep(2**attempt)


def read_events(response):
    for line in response:
        if line.startswith(b"data:") and line[5:].strip() != b"[DONE]":
            yield json.loads(line[5:])


STREAM = os.environ.get("AGENT_STREAM") == "1"
MODEL = os.environ.get("AGENT_MODEL", "")
KEY = os.environ.get("AGENT_API_KEY", "")


class Chat:
    """OpenAI chat completions."""

    def __init__(self, task):
        self.messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]
        self.tools = [
            {"type": "function", "function": {"name": name, "description": text, "parameters": schema(fields)}}
            for name, (text, fields) in TOOLS.items()
        ]

    def ask(self):
        body = {"model": MODEL, "messages": self.messages, "tools": self.tools, "stream": STREAM}
        response = send("/chat/completions", {"authorization": f"Bearer {KEY}"}, body)
        message = self.collect(response) if STREAM else json.load(response)["choices"][0]["message"]
        self.messages.append(message)
        calls = [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"] or "{}"))
            for call in message.get("tool_calls") or []
        ]
        return message.get("content") or "", calls

    def collect(self, response):
        text, calls = "", {}
        for event in read_events(response):
            for choice in event.get("choices") or []:
                delta = choice.get("delta") or {}
                text += delta.get("content") or ""
                for part in delta.get("tool_calls") or []:
                    call = calls.setdefault(
                        part["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                    )
                    call["id"] = part.get("id") or call["id"]
                    function = part.get("function") or {}
                    call["function"]["name"] += function.get("name") or ""
                    call["function"]["arguments"] += function.get("arguments") or ""
        message = {"role": "assistant", "content": text}
        return {**message, "tool_calls": list(calls.values())} if calls else message

    def observe(self, results):
        for identity, text in results:
            self.messages.append({"role": "tool", "tool_call_id": identity, "content": text})


class Responses:
    """OpenAI responses."""

    def __init__(self, task):
        self.input = [{"role": "user", "content": task}]
        self.tools = [
            {"type": "function", "name": name, "description": text, "parameters": schema(fields), "strict": False}
            for name, (text, fields) in TOOLS.items()
        ]

    def ask(self):
        body = {
            "model": MODEL, "instructions": SYSTEM, "input": self.input, "tools": self.tools,
            "stream": STREAM, "store": False,
        }
        response = send("/responses", {"authorization": f"Bearer {KEY}"}, body)
        output = self.collect(response) if STREAM else json.load(response)["output"]
        self.input.extend(output)
        parts = [part for item in output if item["type"] == "message" for part in item["content"]]
        text = "".join(part.get("text", "") for part in parts)
        calls = [
            (item["call_id"], item["name"], json.loads(item["arguments"] or "{}"))
            for item in output
            if item["type"] == "function_call"
        ]
        return text, calls

    def collect(self, response):
        for event in read_events(response):
            if event["type"] in ("response.completed", "response.incomplete"):
                return event["response"]["output"]
        sys.exit("API error: the stream ended before the answer was whole")

    def observe(self, results):
        for identity, text in results:
            self.input.append({"type": "function_call_output", "call_id": identity, "output": text})


class Messages:
    """Anthropic messages."""

    def __init__(self, task):
        self.messages = [{"role": "user", "content": task}]
        self.tools = [
            {"name": name, "description": text, "input_schema": schema(fields)} for name, (text, fields) in TOOLS.items()
        ]

    def ask(self):
        body = {
            "model": MODEL, "max_tokens": 4096, "system": SYSTEM, "messages": self.messages, "tools": self.tools,
            "stream": STREAM,
        }
        response = send("/v1/messages", {"x-api-key": KEY, "anthropic-version": "2023-06-01"}, body)
        content = self.collect(response) if STREAM else json.load(response)["content"]
        self.messages.append({"role": "assistant", "content": content})
        text = "".join(block["text"] for block in content if block["type"] == "text")
        return text, [(block["id"], block["name"], block["input"]) for block in content if block["type"] == "tool_use"]

    def collect(self, response):
        blocks, pieces = {}, {}
        for event in read_events(response):
            index = event.get("index")
            if event["type"] == "content_block_start":
                blocks[index], pieces[index] = dict(event["content_block"]), ""
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                pieces[index] += delta.get("text") or delta.get("partial_json") or ""
        for index, block in blocks.items():
            if block["type"] == "text":
                block["text"] += pieces[index]
            elif block["type"] == "tool_use":
                block["input"] = json.loads(pieces[index] or "{}")
        return [block for block in blocks.values() if block["type"] in ("text", "tool_use")]

    def observe(self, results):
        blocks = [{"type": "tool_result", "tool_use_id": identity, "content": text} for identity, text in results]
        self.messages.append({"role": "user", "content": blocks})


WIRES = {"chat": Chat, "responses": Responses, "messages": Messages}


def main():
    task = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
    conversation = WIRES[os.environ.get("AGENT_WIRE", "chat")](task)
    for turn in range(1, MAX_TURNS + 1):
        text, calls = conversation.ask()
        for _, name, arguments in calls:
            print(f"[{turn}] {name} {json.dumps(arguments)[:200]}", file=sys.stderr, flush=True)
        if not calls:
            print(text)
            return
        conversation.observe([(identity, run_tool(name, arguments)) for identity, name, arguments in calls])
    sys.exit(f"no end after {MAX_TURNS} turns")


if __name__ == "__main__":
    main()
