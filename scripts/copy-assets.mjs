// What the compiler leaves out of dist/: SQL migrations and presets stay text.
import { cpSync } from 'node:fs';

cpSync('src/store/migrations', 'dist/store/migrations', { recursive: true });
cpSync('src/harnesses/presets', 'dist/harnesses/presets', {
  recursive: true,
  filter: (path) => !path.endsWith('.ts'),
});
