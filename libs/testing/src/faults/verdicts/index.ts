export { judge } from './verdict';
