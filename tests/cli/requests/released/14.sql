-- The state database as schema 14 left it; addresses and times stand for the test's.
PRAGMA application_id = 1400267569;
PRAGMA user_version = 14;
BEGIN TRANSACTION;
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  operation TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  base_url TEXT NOT NULL,
  begun_at REAL NOT NULL,
  last_run_at REAL NOT NULL,
  lease TEXT
, packed_at REAL, key_hint TEXT NOT NULL DEFAULT '', whole_at REAL, label TEXT);
INSERT INTO "batches" VALUES('imp_00000000000000000001','/tmp/rows.ndjson','orders.create','default','test','http://sandbox.invalid',1700000000.0,1700000000.0,NULL,NULL,'',NULL,NULL);
CREATE TABLE endpoints (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  secret TEXT,
  created_at REAL NOT NULL,
  PRIMARY KEY (origin, profile, mode, url, events)
);
INSERT INTO "endpoints" VALUES('http://sandbox.invalid','default','test','http://sandbox.invalid/hook/1','order.paid','we_1','whsec_0000000000000000000000000000000',1700000000.0);
CREATE TABLE event_ids (
  event_id TEXT NOT NULL,
  inbox_seq INTEGER NOT NULL,
  PRIMARY KEY (event_id, inbox_seq)
) WITHOUT ROWID;
INSERT INTO "event_ids" VALUES('evt_3kPq0aVb7cXd9eYf1gZh2iWj',1);
CREATE TABLE event_ids_end (seq INTEGER);
INSERT INTO "event_ids_end" VALUES(1);
CREATE TABLE forgotten (
  idempotency_key TEXT,
  forgotten_at REAL,
  kind TEXT,
  profile TEXT,
  mode TEXT,
  base_url TEXT,
  key_hint TEXT,
  path TEXT,
  amount INTEGER,
  currency TEXT,
  boot TEXT,
  uptime REAL,
  PRIMARY KEY (idempotency_key, forgotten_at)
) WITHOUT ROWID;
CREATE TABLE forwards (
  inbox_seq INTEGER NOT NULL,
  target TEXT NOT NULL,
  replay INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  started_at REAL NOT NULL,
  milliseconds REAL NOT NULL,
  status INTEGER,
  error TEXT,
  reply BLOB NOT NULL, final INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (inbox_seq, target, replay, attempt)
) WITHOUT ROWID;
INSERT INTO "forwards" VALUES(1,'http://127.0.0.1:9/x',0,1,1700000000.0,1.0,NULL,'connection refused',X'',0);
CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  listener INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  received_at REAL NOT NULL,
  copies INTEGER NOT NULL DEFAULT 0,
  outcome TEXT
, redelivered INTEGER NOT NULL DEFAULT 0);
INSERT INTO "inbox" VALUES(1,1,'evt_3kPq0aVb7cXd9eYf1gZh2iWj','order.paid','ord_7cXd9eYf1gZh2iWj3kPq0aVb',1700000000.0,0,NULL,0);
CREATE TABLE key_facts (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  slot TEXT NOT NULL CHECK (slot IN ('secret', 'publishable')),
  kind TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  backend TEXT NOT NULL,
  added_at REAL NOT NULL,
  checked_at REAL,
  rolled_at REAL,
  old_fingerprint TEXT,
  old_ends_at REAL,
  PRIMARY KEY (origin, profile, mode, slot)
);
INSERT INTO "key_facts" VALUES('http://sandbox.invalid','default','test','secret','secret','sk_test_…dbox','memory',1700000000.0,1700000000.0,NULL,NULL,NULL);
CREATE TABLE ledger (
  target INTEGER NOT NULL,
  event INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  object TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  ailing INTEGER NOT NULL DEFAULT 0,
  next_at REAL NOT NULL DEFAULT 0,
  at REAL,
  milliseconds REAL,
  last_status INTEGER,
  error TEXT,
  reply BLOB,
  PRIMARY KEY (target, event)
) WITHOUT ROWID;
INSERT INTO "ledger" VALUES(1,1,2,NULL,1,1,0,0.0,1700000000.0,1.0,NULL,'connection refused',X'');
CREATE TABLE listeners (
  id INTEGER PRIMARY KEY,
  scope TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT '',
  profile TEXT NOT NULL DEFAULT '',
  mode TEXT NOT NULL DEFAULT '',
  port INTEGER,
  path TEXT,
  endpoint_id TEXT,
  targets TEXT NOT NULL DEFAULT '[]'
, position_seq INTEGER, position_id TEXT);
INSERT INTO "listeners" VALUES(1,'http://sandbox.invalid|default|test|local|order.paid|0','http://sandbox.invalid','default','test',35615,'/hook/1','we_1','["http://127.0.0.1:9/x"]',NULL,NULL);
CREATE TABLE payloads (
  inbox_seq INTEGER PRIMARY KEY,
  headers BLOB NOT NULL,
  body BLOB NOT NULL
);
INSERT INTO "payloads" VALUES(1,X'436F6E74656E742D547970653A206170706C69636174696F6E2F6A736F6E0D0A5376632D5369676E61747572653A20743D313730303030303030302C76313D30300D0A5376632D4576656E742D49643A206576745F336B507130615662376358643965596631675A683269576A0D0A',X'7B226964223A226576745F336B507130615662376358643965596631675A683269576A222C226F626A656374223A226576656E74222C2274797065223A226F726465722E70616964222C2263726561746564223A22323032362D31312D32325430323A33313A33395A222C226C6976656D6F6465223A66616C73652C226170695F76657273696F6E223A22323032362D30392D3031222C2264617461223A7B226F626A656374223A7B226964223A226F72645F376358643965596631675A683269576A336B507130615662222C226F626A656374223A226F72646572222C22616D6F756E745F746F74616C223A3730302C2263757272656E6379223A22455552227D7D7D');
CREATE TABLE reminders (
  name TEXT PRIMARY KEY,
  told_at REAL NOT NULL
);
INSERT INTO "reminders" VALUES('key',1700000000.0);
CREATE TABLE requests (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  base_url TEXT NOT NULL,
  key_hint TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  api_version TEXT,
  path TEXT NOT NULL,
  encoding TEXT NOT NULL,
  body BLOB NOT NULL,
  body_sha256 TEXT NOT NULL,
  created_at REAL NOT NULL,
  first_sent_at REAL NOT NULL,
  last_sent_at REAL NOT NULL,
  sendings INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'refused', 'not_sent', 'unknown')),
  settled_at REAL,
  status INTEGER,
  object_id TEXT,
  request_id TEXT,
  error_code TEXT,
  error_message TEXT,
  batch_id TEXT,
  batch_row INTEGER,
  lease TEXT
, identity TEXT, key_given INTEGER NOT NULL DEFAULT 0, served_at REAL, world TEXT, likeness TEXT, row_id TEXT, proved INTEGER NOT NULL DEFAULT 0, object_status TEXT, dated_at REAL, kind TEXT, amount INTEGER, currency TEXT, boot TEXT, uptime REAL);
INSERT INTO "requests" VALUES(1,'rq_00000000000000000001','default','test','http://sandbox.invalid','sk_test_…','28a8c958-3bc2-43d8-b189-ad18cd574b83',NULL,'/v1/orders','json',X'7B22616D6F756E74223A3730302C2263757272656E6379223A22455552222C227368697070696E67223A7B22636F756E747279223A224445227D2C226974656D73223A5B7B226E616D65223A2241222C227175616E74697479223A312C22756E69745F616D6F756E74223A3730307D5D7D','f565398bf6c8a2bb24055038f354ad3312d5a084b40be9919f8ee9bcb22d3e2d',1700000000.0,1700000000.0,1700000000.0,1,'unknown',1700000000.0,NULL,NULL,NULL,'outcome_unknown','gave no clear answer',NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "requests" VALUES(2,'rq_00000000000000000002','default','test','http://sandbox.invalid','sk_test_…','38a8c958-3bc2-43d8-b189-ad18cd574b83',NULL,'/v1/orders','json',X'7B22616D6F756E74223A3830302C2263757272656E6379223A22455552222C227368697070696E67223A7B22636F756E747279223A224445227D2C226974656D73223A5B7B226E616D65223A2241222C227175616E74697479223A312C22756E69745F616D6F756E74223A3830307D5D7D','49441028a6fc118c2307ef808e5eb3b05bd6b7002faad27eb778d0a881e044d3',1700000000.0,1700000000.0,1700000000.0,1,'open',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "requests" VALUES(3,'rq_00000000000000000003','default','test','http://sandbox.invalid','sk_test_…','48a8c958-3bc2-43d8-b189-ad18cd574b83',NULL,'/v1/orders','json',X'7B22616D6F756E74223A3930302C2263757272656E6379223A22455552222C227368697070696E67223A7B22636F756E747279223A224445227D2C226974656D73223A5B7B226E616D65223A2241222C227175616E74697479223A312C22756E69745F616D6F756E74223A3930307D5D7D','4ef79a3abc26f7c6b8f6eff2d088c628006148bdb79393699bb18c7c9832e0a3',1700000000.0,1700000000.0,1700000000.0,1,'unknown',1700000000.0,NULL,NULL,NULL,'outcome_unknown','gave no clear answer','imp_00000000000000000001',1,NULL,NULL,0,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE reservations (
    identity TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    PRIMARY KEY (identity, batch_id)
  ) WITHOUT ROWID;
CREATE TABLE sandbox_keys (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  secret TEXT NOT NULL,
  PRIMARY KEY (origin, profile, mode)
);
INSERT INTO "sandbox_keys" VALUES('http://sandbox.invalid','other','test','sk_test_rolled');
CREATE TABLE targets (
  id INTEGER PRIMARY KEY,
  listener INTEGER NOT NULL,
  url TEXT NOT NULL,
  ordered INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  cut INTEGER NOT NULL DEFAULT 0,
  resting TEXT,
  since REAL,
  UNIQUE (listener, url)
);
INSERT INTO "targets" VALUES(1,1,'http://127.0.0.1:9/x',0,0,0,NULL,NULL);
CREATE UNIQUE INDEX request_key ON requests (idempotency_key, base_url, mode, profile);
CREATE INDEX request_batch ON requests (batch_id, batch_row) WHERE batch_id IS NOT NULL;
CREATE INDEX request_object ON requests (object_id) WHERE object_id IS NOT NULL;
CREATE INDEX request_settled ON requests (settled_at)
    WHERE batch_id IS NULL AND state IN ('done', 'refused', 'not_sent') AND key_given = 0;
CREATE INDEX request_likeness ON requests (likeness);
CREATE INDEX request_unread ON requests (seq) WHERE likeness IS NULL;
CREATE INDEX ledger_open ON ledger (target, state, next_at, event) WHERE state < 4;
CREATE INDEX ledger_turns ON ledger (target, object, event)
  WHERE state < 3 AND object IS NOT NULL;
CREATE INDEX ledger_failed ON ledger (event) WHERE state > 4;
CREATE INDEX request_kind ON requests (kind, mode, state) WHERE kind IS NOT NULL;
CREATE INDEX request_unresolved ON requests (seq) WHERE state IN ('open', 'unknown');
CREATE INDEX request_alone ON requests (seq) WHERE batch_id IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('inbox',1);
COMMIT;
