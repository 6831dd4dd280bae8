export { OperatorTokenStore, type OperatorToken } from './operator-token.store';
export { OperatorTokensService } from './operator-tokens.service';
