// What the compiler leaves out of dist/: SQL migrations and the JSON Schemas' neighbours stay text.
import { cpSync } from 'node:fs';

cpSync('src/store/migrations', 'dist/store/migrations', { recursive: true });
