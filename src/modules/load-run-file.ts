import { existsSync } from 'node:fs';
import { dirname, extname, relative, resolve } from 'node:path';
import { checkShape } from '../config/check-shape.ts';
import { configFileSchema } from '../config/config-file.ts';
import { loadRun, type LoadedRun, type LoadRequest } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problem.ts';
import type { RunModule } from '../domain/run-module.ts';
import { checkDefinitions } from './check-definitions.ts';
import { findConfigFile } from './find-project.ts';
import { EXPORT_NAME, readModule } from './read-module.ts';
import { withModule } from './with-module.ts';

/** What a run file may be written in beside YAML and JSON. */
const MODULE_EXTENSIONS: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];

type FileRequest = Omit<LoadRequest, 'source' | 'defaults'> & {
  readonly path: string;
  /** How long a module may take to load; 30 s unless given. */
  readonly loadTimeoutMs?: number;
};

/**
 * Reads and checks a run file of any kind: YAML, JSON, or a module with `defineRun`, with the defaults of the
 * project's `assay.config.ts` below it. Throws `ConfigError` with every problem.
 */
export async function loadRunFile({ path, loadTimeoutMs, ...request }: FileRequest): Promise<LoadedRun> {
  const defaults = await readDefaults(path);
  const isModule = MODULE_EXTENSIONS.includes(extname(path).toLowerCase()) && existsSync(path);
  if (!isModule) return await loadRun({ ...request, defaults, source: { kind: 'file', path } });
  const { bundle, description, source } = await readModule(path, {
    wanted: 'run',
    ...(loadTimeoutMs === undefined ? {} : { loadTimeoutMs }),
  });
  const problems: Problem[] = [];
  const { catalog } = request;
  const checked = checkDefinitions(description, { source, problems, catalog });
  const { digest, projectDir, path: inProject } = bundle;
  const module: RunModule = { digest, exportName: EXPORT_NAME, path: inProject, projectDir, ...checked };
  return await loadRun({
    ...request,
    defaults,
    catalog: withModule(catalog, module),
    source: { kind: 'module', path, source, value: description.value, problems, module, code: bundle.code },
  });
}

async function readDefaults(path: string): Promise<{ readonly [key: string]: unknown }> {
  const found = findConfigFile(dirname(resolve(path)));
  if (found === null || found === resolve(path)) return {};
  const shown = relative(process.cwd(), found);
  const { description, source } = await readModule(shown.startsWith('..') ? found : shown, {
    wanted: 'config',
  });
  const problems: Problem[] = [];
  checkShape(configFileSchema, description.value, { source, problems });
  if (problems.length > 0) throw new ConfigError(problems);
  return description.value as { readonly [key: string]: unknown };
}
