// The environment in which scripts run: the project's own Node and its packages' commands first on PATH.
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export const projectEnvironment = () => ({
  ...process.env,
  PATH: `${root}node_modules/node/bin:${root}node_modules/.bin:${process.env.PATH}`,
});
