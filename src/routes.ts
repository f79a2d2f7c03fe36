// THE table: method and path, and the ordered steps that answer them. Reads like the interface's Endpoints table.
import type { RouteSpec } from './core/route.ts';
import type { BodyStep, HeadStep } from './core/step.ts';

export interface Steps {
  readonly accessLog: HeadStep;
  readonly identify: HeadStep;
  readonly authenticate: BodyStep;
  readonly read: BodyStep;
  readonly admit: BodyStep;
  readonly translate: BodyStep;
  readonly health: HeadStep;
  readonly languages: BodyStep;
}

export function routeTable(s: Steps): RouteSpec[] {
  return [
    get('/health', [s.accessLog, s.health]),
    post('/v1/translate', [s.accessLog, s.identify, s.authenticate, s.read, s.admit, s.translate]),
    get('/v1/languages', [s.accessLog, s.identify, s.authenticate, s.admit, s.languages]),
  ];
}

function get(path: string, steps: RouteSpec['steps']): RouteSpec {
  return { method: 'GET', path, takesBody: false, steps };
}

function post(path: string, steps: RouteSpec['steps']): RouteSpec {
  return { method: 'POST', path, takesBody: true, steps };
}
