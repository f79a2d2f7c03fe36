// TypeBox, as everything here uses it. The build bundles it into this one file, because its 680
// modules take longer to load than most commands take to run.
import { Settings } from 'typebox/system';

export { Type } from 'typebox';
export { Check, Clone, Default, Errors } from 'typebox/value';

// The library stops at eight by default; an operator wants to see every fault at once.
Settings.Set({ maxErrors: 1000 });
