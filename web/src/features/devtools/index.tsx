// What the shell loads when somebody opens the panel.
export { DevTools } from './DevTools';
