// What the shell loads when the visitor opens the panel.
export { DevTools } from './DevTools';
