/** Why a path cannot be one inside a session's directory, or null. */
export function findPathProblem(path: string): string | null {
  const parts = path.split('/');
  if (path.trim() === '' || path.endsWith('/')) return `"${path}" is not the path of a file`;
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path)) {
    return `"${path}" must be relative to the session's directory`;
  }
  if (parts.includes('..')) return `"${path}" must stay inside the session's directory`;
  return path.includes('\0') ? 'a path cannot hold U+0000' : null;
}
