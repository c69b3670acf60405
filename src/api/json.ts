export type Json = null | boolean | number | string | Json[] | JsonObject
export interface JsonObject { [key: string]: Json }
