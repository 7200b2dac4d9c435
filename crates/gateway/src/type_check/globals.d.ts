// What a program finds in its globals, as far as a type checker should know: guests/javascript/prelude/globals.js.

declare function callMCPTool<N extends string>(
  name: N,
  args?: N extends keyof ToolCalls ? Parameters<ToolCalls[N]>[0] : any,
): N extends keyof ToolCalls ? ReturnType<ToolCalls[N]> : Promise<any>;
declare const callTool: typeof callMCPTool;
declare const callMcpTool: typeof callMCPTool;
declare const call_mcp_tool: typeof callMCPTool;
declare const call_tool: typeof callMCPTool;

declare class ToolError extends Error {
  code: string;
  tool: string;
  kind: string;
  retrySafe: boolean;
  [other: string]: any;
}
declare class AnalysisError extends ToolError {}
declare class StateError extends Error {
  [other: string]: any;
}

declare function searchTools(query?: any, options?: any, ...others: any[]): any;
declare function describeTool(name: any, ...others: any[]): any;
declare function listServers(...options: any[]): any;
declare function listTools(...options: any[]): any;
declare function getToolDefinition(...options: any[]): any;
declare function readResource(uri: any, ...others: any[]): Promise<any>;
declare function readResult(handle: any, options?: any): any;
declare function getExecutionStats(options?: any): any;
declare function analyze(data: any, steps?: any, options?: any): Promise<any>;
declare function readFile(path: any, options?: any): any;
declare function writeFile(path: any, content: any, ...others: any[]): any;
declare function listDirectory(path?: any): any;
declare function saveSkill(name: any, code?: any, options?: any): any;
declare function loadSkill(name: any): any;
declare function listSkills(query?: any, tags?: any): any;
declare function deleteSkill(name: any): any;
declare function reset(): any;
declare function sanitizePii(value: any): any;
declare function restorePii(value: any): any;
declare const privacy: any;
declare const state: any;
declare var result: any;
declare var context: any;
declare var help: any;

declare const search_tools: typeof searchTools;
declare const describe_tool: typeof describeTool;
declare const list_servers: typeof listServers;
declare const list_tools: typeof listTools;
declare const get_tool_definition: typeof getToolDefinition;
declare const getToolCode: typeof describeTool;
declare const get_tool_code: typeof describeTool;
declare const read_resource: typeof readResource;
declare const read_result: typeof readResult;
declare const get_execution_stats: typeof getExecutionStats;
declare const stats: typeof getExecutionStats;
declare const executeAnalysis: typeof analyze;
declare const execute_analysis: typeof analyze;
declare const read_file: typeof readFile;
declare const readWorkspaceFile: typeof readFile;
declare const read_workspace_file: typeof readFile;
declare const write_file: typeof writeFile;
declare const writeWorkspaceFile: typeof writeFile;
declare const write_workspace_file: typeof writeFile;
declare const list_directory: typeof listDirectory;
declare const save_skill: typeof saveSkill;
declare const load_skill: typeof loadSkill;
declare const list_skills: typeof listSkills;
declare const delete_skill: typeof deleteSkill;
declare const sanitize_pii: typeof sanitizePii;
declare const restore_pii: typeof restorePii;

declare const console: { [name: string]: (...values: any[]) => void };
declare function setTimeout(run: (...values: any[]) => any, ms?: any, ...values: any[]): any;
declare function setInterval(run: (...values: any[]) => any, ms?: any, ...values: any[]): any;
declare function setImmediate(run: (...values: any[]) => any, ...values: any[]): any;
declare function clearTimeout(timer?: any): void;
declare function clearInterval(timer?: any): void;
declare function clearImmediate(timer?: any): void;
declare function queueMicrotask(run: () => any): void;
declare function structuredClone<T>(value: T, options?: any): T;
declare function atob(text: any): string;
declare function btoa(text: any): string;
declare function fetch(resource: any, options?: any): Promise<Response>;
declare var Response: any;
interface Response {
  status: number;
  statusText: string;
  ok: boolean;
  url: string;
  redirected: boolean;
  headers: Headers;
  text(): Promise<string>;
  json(): Promise<any>;
  bytes(): Promise<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
  clone(): Response;
  [other: string]: any;
}
declare var Headers: any;
interface Headers {
  get(name: any): string | null;
  has(name: any): boolean;
  [other: string]: any;
}
declare var Request: any;
interface Request {
  [name: string]: any;
}
declare function require(name: string): any;
declare namespace require {
  const resolve: any;
}

declare var TextEncoder: any;
interface TextEncoder {
  [name: string]: any;
}
declare var TextDecoder: any;
interface TextDecoder {
  [name: string]: any;
}
declare var URL: any;
interface URL {
  [name: string]: any;
}
declare var URLSearchParams: any;
interface URLSearchParams {
  [name: string]: any;
}
declare var Event: any;
interface Event {
  [name: string]: any;
}
declare var CustomEvent: any;
interface CustomEvent {
  [name: string]: any;
}
declare var EventTarget: any;
interface EventTarget {
  [name: string]: any;
}
declare var AbortController: any;
interface AbortController {
  [name: string]: any;
}
declare var AbortSignal: any;
interface AbortSignal {
  [name: string]: any;
}
declare var Buffer: any;
interface Buffer extends Uint8Array {
  [name: string]: any;
}
declare namespace NodeJS {
  type Timeout = any;
  type Timer = any;
}
declare var performance: any;
declare var crypto: any;
declare var process: any;
declare var global: any;
declare var window: any;
declare var exports: any;
declare var module: any;
