import { expect, test } from 'vitest';
import { chatForm } from '../../src/recording-proxy/chat-form.ts';
import { toWireError } from '../../src/recording-proxy/failure-error.ts';
import { CountsFilter } from '../../src/recording-proxy/hide-counts.ts';
import { googleForm } from '../../src/recording-proxy/google-form.ts';
import { messagesForm } from '../../src/recording-proxy/messages-form.ts';
import { responsesForm } from '../../src/recording-proxy/responses-form.ts';
import { toUpstreamHeaders } from '../../src/recording-proxy/upstream-headers.ts';
import { CHAT_COUNTS, WIRES } from './wire-cases.ts';

test.each(['\n', '\r\n'])(
  'the event of counts is taken out wherever a stream is cut into pieces (%j)',
  (end) => {
    const events = WIRES[0]!.events.map((event) => event.replaceAll('\n', end));
    const whole = Buffer.from(events.join(''));
    const wanted = events.filter((event) => event !== CHAT_COUNTS.replaceAll('\n', end)).join('');
    for (const size of [1, 2, 3, 7, 50, whole.length]) {
      const filter = new CountsFilter();
      const kept: Buffer[] = [];
      for (let at = 0; at < whole.length; at += size) kept.push(filter.push(whole.subarray(at, at + size)));
      kept.push(filter.end());
      expect(Buffer.concat(kept).toString('utf8')).toBe(wanted);
    }
  },
);

test('what a stream ends with is handed on, and events that say more than counts stay', () => {
  const filter = new CountsFilter();
  const said = [
    'data: {"choices":[],"prompt_filter_results":[]}\n\n',
    'data: {"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}\n\n',
    ': a comment\n\n',
    'data: {"cut',
  ].join('');
  const kept = filter.push(Buffer.from(said)).toString('utf8') + filter.end().toString('utf8');
  expect(kept).toBe(said);
});

const call = (name: string, value: object, id: string) => ({
  id,
  name,
  arguments: { kind: 'parsed', value },
});

test('a chat history is read with its thoughts, calls, results and pictures', () => {
  const asked = chatForm.readAsked({
    model: 'm',
    max_completion_tokens: 9,
    n: 2,
    messages: [
      { role: 'developer', content: 'Rules.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'x' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'seen' },
    ],
    tools: [
      { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } },
    ],
  });
  expect(asked).toEqual({
    model: 'm',
    isStreamed: false,
    maxOutputTokens: 9,
    answers: 2,
    messages: [
      { role: 'system', text: 'Rules.' },
      { role: 'user', text: 'See[image_url]' },
      { role: 'assistant', text: '', reasoning: 'Hm.', toolCalls: [call('look', { at: 1 }, 'c1')] },
      { role: 'tool', toolCallId: 'c1', toolName: 'look', text: 'seen', status: 'success' },
    ],
    tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
  });
});

test('items of the responses API that follow each other are one answer', () => {
  const asked = responsesForm.readAsked({
    instructions: 'Rules.',
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go.' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
    ],
  });
  expect(asked.messages).toEqual([
    { role: 'system', text: 'Rules.' },
    { role: 'user', text: 'Go.' },
    {
      role: 'assistant',
      text: 'I look.',
      reasoning: 'Hm.',
      toolCalls: [
        call('look', { at: 1 }, 'c1'),
        { id: 'c2', name: 'patch', arguments: { kind: 'unreadable', text: '*** Begin' } },
      ],
    },
    { role: 'tool', toolCallId: 'c1', toolName: 'look', text: 'seen', status: 'success' },
    { role: 'tool', toolCallId: 'c2', toolName: 'patch', text: 'done', status: 'success' },
  ]);
});

test('results of tools are taken out of the turns of the messages API', () => {
  const asked = messagesForm.readAsked({
    max_tokens: 5,
    system: [{ type: 'text', text: 'Rules.' }],
    messages: [
      { role: 'user', content: 'Go.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'no' }] },
          { type: 'text', text: 'And now?' },
        ],
      },
    ],
  });
  expect(asked.messages).toEqual([
    { role: 'system', text: 'Rules.' },
    { role: 'user', text: 'Go.' },
    { role: 'assistant', text: 'I look.', reasoning: 'Hm.', toolCalls: [call('look', { at: 1 }, 't1')] },
    { role: 'tool', toolCallId: 't1', toolName: 'look', text: 'no', status: 'error' },
    { role: 'user', text: 'And now?' },
  ]);
});

test('turns of the Gemini API are read with their thoughts, calls and results', () => {
  const asked = googleForm.readAsked({
    model: 'm',
    stream: false,
    systemInstruction: { parts: [{ text: 'Rules.' }] },
    generationConfig: { maxOutputTokens: 9, candidateCount: 2 },
    tools: [{ functionDeclarations: [{ name: 'look', description: 'Looks.', parametersJsonSchema: {} }] }],
    contents: [
      { role: 'user', parts: [{ text: 'Go.' }, { inlineData: { data: 'x' } }] },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'I look.' },
          { functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature: 's' },
          { functionCall: { id: 'f2', name: 'look', args: { at: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'look', response: { output: 'seen' } } },
          { functionResponse: { id: 'f2', name: 'look', response: { error: 'no' } } },
        ],
      },
    ],
  });
  expect(asked).toEqual({
    model: 'm',
    isStreamed: false,
    maxOutputTokens: 9,
    answers: 2,
    messages: [
      { role: 'system', text: 'Rules.' },
      { role: 'user', text: 'Go.\n[inlineData]' },
      {
        role: 'assistant',
        text: 'I look.',
        reasoning: 'Hm.',
        toolCalls: [call('look', { at: 1 }, 'call-1'), call('look', { at: 2 }, 'f2')],
      },
      { role: 'tool', toolCallId: 'call-1', toolName: 'look', text: 'seen', status: 'success' },
      { role: 'tool', toolCallId: 'f2', toolName: 'look', text: '{"error":"no"}', status: 'error' },
    ],
    tools: [{ name: 'look', description: 'Looks.', parameters: {} }],
  });
  const named = { stream: false, contents: [{ parts: [{ fileData: { fileUri: 'x' } }] }] };
  expect(googleForm.findRefusal(named, { isBounded: true })).toMatch(/a budget or limit holds/);
  expect(googleForm.findRefusal(named, { isBounded: false })).toBeNull();
  const change = { model: 'm', maxOutputTokens: 7, kind: 'google' };
  expect(googleForm.complete({ model: 'x', stream: false, contents: [] }, change)).toEqual({
    contents: [],
    generationConfig: { maxOutputTokens: 7 },
  });
});

const ODD_FIELDS = [
  'messages',
  'input',
  'contents',
  'systemInstruction',
  'generationConfig',
  'tools',
  'system',
  'model',
];

test('odd requests are read without a fault', () => {
  for (const form of [chatForm, responsesForm, messagesForm, googleForm]) {
    for (const odd of [
      null,
      1,
      'text',
      [null, 1, 'x', [], { role: 5, content: 7 }, { content: [null, {}] }],
    ]) {
      const asked = form.readAsked(Object.fromEntries(ODD_FIELDS.map((name) => [name, odd])));
      expect(asked.messages).toBeInstanceOf(Array);
      expect(
        form.findRefusal({ messages: odd, input: odd, contents: odd, stream: false }, { isBounded: true }),
      ).toBeNull();
    }
  }
});

test.each([
  [chatForm, { messages: [{ content: [{ type: 'image_url', image_url: { url: 'https://x/a.png' } }] }] }],
  [chatForm, { messages: [{ content: [{ type: 'file', file: { file_id: 'f1' } }] }] }],
  [responsesForm, { input: [{ content: [{ type: 'input_file', file_url: 'https://x' }] }] }],
  [responsesForm, { conversation: 'c1' }],
  [messagesForm, { messages: [{ content: [{ type: 'image', source: { type: 'url', url: 'https://x' } }] }] }],
  [
    messagesForm,
    {
      messages: [
        { content: [{ type: 'tool_result', content: [{ type: 'document', source: { type: 'file' } }] }] },
      ],
    },
  ],
])('what is named and not contained cannot be bounded (%#)', (form, body) => {
  expect(form.findRefusal(body, { isBounded: true })).toMatch(/a budget or limit holds/);
  expect(form.findRefusal(body, { isBounded: false })).toBeNull();
});

test('arguments of tools may name files', () => {
  const content = [{ type: 'tool_use', id: 't', name: 'get', input: { file_id: 'f1' } }];
  expect(messagesForm.findRefusal({ messages: [{ content }] }, { isBounded: true })).toBeNull();
});

test("the agent's versions and features reach the provider, its keys and places do not", () => {
  const given = {
    authorization: 'Bearer token',
    'x-api-key': 'token',
    cookie: 'a=b',
    host: '127.0.0.1',
    'anthropic-version': '2024-01-01',
    'anthropic-beta': 'tools-1',
    'x-forwarded-for': '10.0.0.1',
    'accept-encoding': 'gzip',
    'user-agent': 'agent/1',
  };
  expect(toUpstreamHeaders(messagesForm, given, 'the-key')).toEqual({
    'content-type': 'application/json',
    'anthropic-version': '2024-01-01',
    'anthropic-beta': 'tools-1',
    'user-agent': 'agent/1',
    'x-api-key': 'the-key',
  });
  expect(toUpstreamHeaders(chatForm, { authorization: 'Bearer token' }, null)).toEqual({
    'content-type': 'application/json',
  });
});

test('a failure without an answer has a status that clients know', () => {
  const failure = { retryable: true, retryAfterMs: null, served: true, message: 'm' };
  const statusOf = (name: 'time_out' | 'connection' | 'billing', status: number | null) =>
    toWireError({ ...failure, class: name, status }).status;
  expect([statusOf('time_out', null), statusOf('connection', null), statusOf('billing', 429)]).toEqual([
    504, 502, 429,
  ]);
});
