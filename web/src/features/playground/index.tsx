// The entry point of the playground, which is loaded when the page is opened.
export { PlaygroundPage } from './PlaygroundPage';
