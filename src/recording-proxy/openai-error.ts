import type { Fields } from '../providers/fields.ts';
import type { WireError } from './wire-form.ts';

const TYPES: { readonly [status: number]: string } = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

/** An error as OpenAI's APIs write it. */
export const writeOpenAiError = ({ status, code, message }: WireError): Fields => ({
  error: {
    message,
    type: TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'),
    param: null,
    code,
  },
});
