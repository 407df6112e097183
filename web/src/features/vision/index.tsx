// What the shell loads when the page Vision is opened.
export { VisionPage } from './VisionPage';
