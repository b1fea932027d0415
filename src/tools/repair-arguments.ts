import type { ErrorObject } from 'ajv';
import type { Json, JsonObject } from '../domain/json.ts';
import type { AssistantMessage, ToolArguments, ToolSchema } from '../domain/transcript.ts';
import { findArgumentErrors } from './argument-schema.ts';
import { readLooseJson } from './loose-json.ts';

/** An answer whose tool calls are repaired where their arguments are no JSON or do not fit, and a repair is certain. */
export function repairCalls(message: AssistantMessage, tools: readonly ToolSchema[]): AssistantMessage {
  const toolCalls = message.toolCalls.map((call) => {
    const parameters = tools.find(({ name }) => name === call.name)?.parameters;
    return parameters === undefined
      ? call
      : { ...call, arguments: repairArguments(parameters, call.arguments) };
  });
  return { ...message, toolCalls };
}

/**
 * One repair: text is read as what models write where JSON is meant, then values that say the right thing in the wrong
 * type are turned. What still does not fit comes back as it was: the model is told.
 */
export function repairArguments(parameters: Json, given: ToolArguments): ToolArguments {
  const read = given.kind === 'parsed' ? given.value : readText(given.text);
  if (read === null) return given;
  const errors = findArgumentErrors(parameters, read);
  if (errors.length === 0 && given.kind === 'parsed') return given;
  const value = errors.length === 0 ? read : turn(read, errors);
  if (findArgumentErrors(parameters, value).length > 0) return given;
  const writtenAs = given.kind === 'parsed' ? JSON.stringify(given.value) : given.text;
  return { kind: 'parsed', value, writtenAs };
}

/** Also JSON that was written as a JSON text. */
function readText(text: string): JsonObject | null {
  const once = readLooseJson(text);
  const value = typeof once === 'string' ? readLooseJson(once) : once;
  return isObject(value) ? value : null;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy in which each value of a wrong type is what it says in the right one, where that is certain. */
function turn(value: JsonObject, errors: readonly ErrorObject[]): JsonObject {
  const copy = structuredClone(value) as { [name: string]: Json };
  for (const { keyword, instancePath, params } of errors) {
    const path = instancePath.split('/').slice(1).map(unescapePointer);
    const name = path.pop();
    const parent = path.reduce<unknown>(step, copy);
    if (keyword !== 'type' || name === undefined || typeof parent !== 'object' || parent === null) continue;
    const holder = parent as { [name: string]: Json };
    const old = holder[name];
    // Many models send null for what they leave out; a required one is then missed.
    if (old === null && !Array.isArray(parent)) delete holder[name];
    else if (old !== undefined) holder[name] = toType(old, (params as { readonly type: unknown }).type);
  }
  return copy;
}

const step = (at: unknown, name: string): unknown =>
  typeof at === 'object' && at !== null ? (at as { readonly [name: string]: unknown })[name] : undefined;

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

/** The same value when nothing is certain. */
function toType(value: Json, wanted: unknown): Json {
  const types = Array.isArray(wanted) ? wanted : [wanted];
  if (typeof value === 'number' || typeof value === 'boolean')
    return types.includes('string') ? String(value) : value;
  if (typeof value !== 'string') return value;
  const said = readLooseJson(value);
  return said !== undefined && types.some((type) => isOfType(said, type)) ? said : value;
}

function isOfType(value: Json, type: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return false;
  }
}
