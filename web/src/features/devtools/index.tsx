// The entry point of the DevTools panel, which is loaded when the visitor opens it.
export { DevTools } from './DevTools';
