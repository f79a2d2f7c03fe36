// THE table: method and path, and the ordered steps that answer them. Reads like the interface's Endpoints table.
import type { RouteSpec } from './core/route.ts';
import type { BodyStep, HeadStep } from './core/step.ts';

export interface Steps {
  readonly accessLog: HeadStep;
  readonly shed: HeadStep;
  readonly identify: HeadStep;
  readonly authenticate: BodyStep;
  readonly teamShed: BodyStep;
  readonly read: BodyStep;
  readonly admit: BodyStep;
  readonly translate: BodyStep;
  readonly health: HeadStep;
  readonly languages: BodyStep;
  readonly usage: BodyStep;
  readonly readGlossary: BodyStep;
  readonly createGlossary: BodyStep;
  readonly listGlossaries: BodyStep;
  readonly showGlossary: BodyStep;
  readonly showGlossaryEntries: BodyStep;
  readonly deleteGlossary: BodyStep;
}

export function routeTable(s: Steps): RouteSpec[] {
  return [
    get('/health', [s.accessLog, s.health]),
    post('/v1/translate', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.read, s.admit, s.translate]),
    get('/v1/languages', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.languages]),
    get('/v1/usage', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.usage]),
    post('/v1/glossaries', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.readGlossary, s.admit, s.createGlossary]),
    get('/v1/glossaries', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.listGlossaries]),
    get('/v1/glossaries/{id}', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.showGlossary]),
    remove('/v1/glossaries/{id}', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.deleteGlossary]),
    get('/v1/glossaries/{id}/entries', [s.accessLog, s.shed, s.identify, s.authenticate, s.teamShed, s.admit, s.showGlossaryEntries]),
  ];
}

function get(path: string, steps: RouteSpec['steps']): RouteSpec {
  return { method: 'GET', path, takesBody: false, steps };
}

function remove(path: string, steps: RouteSpec['steps']): RouteSpec {
  return { method: 'DELETE', path, takesBody: false, steps };
}

function post(path: string, steps: RouteSpec['steps']): RouteSpec {
  return { method: 'POST', path, takesBody: true, steps };
}
