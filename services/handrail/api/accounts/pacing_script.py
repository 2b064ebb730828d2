"""The Lua script of `pacing`: one pairing try, counted before the code is looked up."""

SCRIPT = """
-- One pairing try, before the code is looked up. Atomic, shared by all replicas. Times are the caller's, in ms.
-- KEYS: 1 peer state, 2 live digit codes, 3 live hardened codes, 4 budget of digits, 5 budget of hardened
-- ARGV: 1 now, 2 hour, 3 free tries, 4 first delay, 5 longest delay, 6 forget after, 7 digit budget, 8 hardened budget,
--       9 digit space, 10 hardened space, 11 hours kept, 12 peer's tries of each hardened code
-- Returns {wait ms, digits accepted 0|1, hardened accepted 0|1, digit charge, hardened charge}
local now, hour = tonumber(ARGV[1]), tonumber(ARGV[2])
local function live(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  return redis.call('ZCARD', key)
end
local function spent(key)
  local sum = 0
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    if tonumber(fields[i]) <= hour - tonumber(ARGV[11]) then
      redis.call('HDEL', key, fields[i])
    else
      sum = sum + tonumber(fields[i + 1])
    end
  end
  return sum
end
local function charge(key, budget, codes, space)
  if codes == 0 then return 0, 0 end
  local cost = math.ceil(codes * 1000000000 / space)
  if spent(key) + cost > budget then return 0, 0 end
  redis.call('HINCRBY', key, hour, cost)
  redis.call('PEXPIRE', key, 2 * 86400000)
  return 1, cost
end

local state = redis.call('HMGET', KEYS[1], 'fails', 'last', 'until', 'code', 'tries')
local fails, last, blocked = tonumber(state[1] or 0), tonumber(state[2] or 0), tonumber(state[3] or 0)
if now - last > tonumber(ARGV[6]) then fails, blocked = 0, 0 end
local hardened = live(KEYS[3])
local newest = redis.call('ZREVRANGE', KEYS[3], 0, 0)[1]
local tries = (newest and state[4] == newest) and tonumber(state[5] or 0) or 0
local past_delay = newest and tries < tonumber(ARGV[12])
if blocked > now and not past_delay then return {blocked - now, 0, 0, 0, 0} end

local digits_ok, digits_cost = 0, 0
if blocked <= now then
  digits_ok, digits_cost = charge(KEYS[4], tonumber(ARGV[7]), live(KEYS[2]), tonumber(ARGV[9]))
end
local hardened_ok, hardened_cost = charge(KEYS[5], tonumber(ARGV[8]), hardened, tonumber(ARGV[10]))

fails = fails + 1
local wait = 0
if fails >= tonumber(ARGV[3]) then
  wait = math.min(tonumber(ARGV[5]), tonumber(ARGV[4]) * 2 ^ math.min(fails - tonumber(ARGV[3]), 20))
end
redis.call('HSET', KEYS[1], 'fails', fails, 'last', now, 'until', math.max(blocked, now + wait), 'code', newest or '', 'tries', tries + 1)
redis.call('PEXPIRE', KEYS[1], 86400000)
return {0, digits_ok, hardened_ok, digits_cost, hardened_cost}
"""
