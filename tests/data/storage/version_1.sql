-- A version 1 database: what every later version has to open.
PRAGMA application_id = 1380995667;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE chunk (
        entry TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (entry, seq)
    ) WITHOUT ROWID;
INSERT INTO "chunk" VALUES('000647667dad2741b663268c',0,'thinking','easy');
INSERT INTO "chunk" VALUES('000647667dad2741b663268c',1,'text','One, two');
CREATE TABLE draft (
        session TEXT NOT NULL PRIMARY KEY,
        text TEXT NOT NULL,
        cursor INTEGER NOT NULL
    ) WITHOUT ROWID;
INSERT INTO "draft" VALUES('','an unsent line',3);
INSERT INTO "draft" VALUES('tools','and tomorrow?',0);
CREATE TABLE entry (
        id TEXT NOT NULL PRIMARY KEY,
        session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        parent TEXT REFERENCES entry (id),
        kind TEXT NOT NULL,
        role TEXT,
        state TEXT,
        at TEXT NOT NULL,
        data TEXT NOT NULL
    );
INSERT INTO "entry" VALUES('0006476672e350007744a6f9','tools',NULL,'message','user',NULL,'2026-01-02T12:00:00.000000+00:00','{"role":"user","parts":[{"type":"text","text":"What is it like outside?"}]}');
INSERT INTO "entry" VALUES('0006476672f29240caa2d987','tools','0006476672e350007744a6f9','message','assistant',NULL,'2026-01-02T12:00:01.000000+00:00','{"role":"assistant","parts":[{"type":"thinking","text":"I should look."},{"type":"text","text":"Let me see."},{"type":"tool_call","id":"c1","name":"look","arguments":"{\"where\": \"outside\"}"}],"reply":{"model":{"provider":"own","model":"small"},"finish_reason":"tool_calls","usage":{"input":12,"output":null},"first_delta_s":0.25,"elapsed_s":1.5}}');
INSERT INTO "entry" VALUES('0006476672f29241b3469f3e','tools','0006476672f29240caa2d987','message','tool',NULL,'2026-01-02T12:00:01.000000+00:00','{"role":"tool","parts":[{"type":"tool_result","call_id":"c1","name":"look","text":"error: dark","is_error":true}]}');
INSERT INTO "entry" VALUES('0006476672f29243cdb05697','tools','0006476672f29241b3469f3e','message','assistant',NULL,'2026-01-02T12:00:01.000000+00:00','{"role":"assistant","parts":[{"type":"text","text":"Dark, café 🙂."}],"reply":{"model":{"provider":"own","model":"small"},"finish_reason":"stop","usage":{"input":20,"output":8},"first_delta_s":0.5,"elapsed_s":2.0}}');
INSERT INTO "entry" VALUES('0006476672f292448c069c71','tools','0006476672f29243cdb05697','model_change',NULL,NULL,'2026-01-02T12:00:01.000000+00:00','{"model":{"provider":"own","model":"large"}}');
INSERT INTO "entry" VALUES('0006476672f292453071eb56','tools','0006476672f292448c069c71','notice',NULL,NULL,'2026-01-02T12:00:01.000000+00:00','{"text":"Resumed."}');
INSERT INTO "entry" VALUES('0006476676861940a03e74b9','branches',NULL,'message','user',NULL,'2026-01-02T12:01:01.000000+00:00','{"role":"user","parts":[{"type":"text","text":"one"}]}');
INSERT INTO "entry" VALUES('0006476676861942a5f5228d','branches','0006476676861940a03e74b9','message','assistant',NULL,'2026-01-02T12:01:01.000000+00:00','{"role":"assistant","parts":[{"type":"text","text":"ONE"}],"reply":{"model":{"provider":"own","model":"small"},"finish_reason":"stop","usage":null,"first_delta_s":null,"elapsed_s":null}}');
INSERT INTO "entry" VALUES('00064766768619439cde8fb3','branches','0006476676861942a5f5228d','message','user',NULL,'2026-01-02T12:01:01.000000+00:00','{"role":"user","parts":[{"type":"text","text":"two"}]}');
INSERT INTO "entry" VALUES('000647667686194512214519','branches','00064766768619439cde8fb3','message','assistant',NULL,'2026-01-02T12:01:01.000000+00:00','{"role":"assistant","parts":[{"type":"text","text":"TWO"}],"reply":{"model":{"provider":"own","model":"small"},"finish_reason":"stop","usage":null,"first_delta_s":null,"elapsed_s":null}}');
INSERT INTO "entry" VALUES('0006476676861947fd5f13b0','branches','0006476676861940a03e74b9','message','assistant',NULL,'2026-01-02T12:01:01.000000+00:00','{"role":"assistant","parts":[{"type":"text","text":"Another one"}],"reply":{"model":{"provider":"own","model":"small"},"finish_reason":"stop","usage":null,"first_delta_s":null,"elapsed_s":null}}');
INSERT INTO "entry" VALUES('000647667a19a040f7e9a8af','waits',NULL,'message','user',NULL,'2026-01-02T12:02:01.000000+00:00','{"role":"user","parts":[{"type":"text","text":"Busy?"}]}');
INSERT INTO "entry" VALUES('000647667a19a041ef0266f0','waits','000647667a19a040f7e9a8af','attempt',NULL,'stopped','2026-01-02T12:02:01.000000+00:00','{"model":{"provider":"own","model":"small"},"number":1,"state":"stopped","parts":[{"type":"text","text":"No,"}],"failure":null,"ended_at":"2026-01-02T12:02:01.000000+00:00","retry":0,"retries":0,"retry_at":null}');
INSERT INTO "entry" VALUES('000647667a19a0424eca9c22','waits','000647667a19a040f7e9a8af','attempt',NULL,'failed','2026-01-02T12:02:01.000000+00:00','{"model":{"provider":"own","model":"small"},"number":2,"state":"failed","parts":[{"type":"thinking","text":"hm"}],"failure":{"kind":"rate_limit","message":"slow down","retryable":true,"retry_after_s":90.0,"status":429,"request_id":"req-1","provider_detail":"limit reached"},"ended_at":"2026-01-02T12:02:01.000000+00:00","retry":1,"retries":10,"retry_at":"2026-01-02T12:03:31.000000+00:00"}');
INSERT INTO "entry" VALUES('000647667dad27409aabb4cc','streams',NULL,'message','user',NULL,'2026-01-02T12:03:01.000000+00:00','{"role":"user","parts":[{"type":"text","text":"Count to three."}]}');
INSERT INTO "entry" VALUES('000647667dad2741b663268c','streams','000647667dad27409aabb4cc','attempt',NULL,'open','2026-01-02T12:03:01.000000+00:00','{"model":{"provider":"own","model":"small"},"number":1,"state":"open","parts":[],"failure":null,"ended_at":null,"retry":0,"retries":0,"retry_at":null}');
CREATE TABLE session (
        id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        leaf TEXT REFERENCES entry (id),
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        activity TEXT NOT NULL,
        provider TEXT,
        model TEXT
    );
INSERT INTO "session" VALUES('tools','The weather','0006476672f292453071eb56','2026-01-02T12:00:00.000000+00:00','2026-01-02T12:00:01.000000+00:00','0006476672f29243cdb05697','own','large');
INSERT INTO "session" VALUES('branches','one','0006476676861947fd5f13b0','2026-01-02T12:01:01.000000+00:00','2026-01-02T12:01:01.000000+00:00','0006476676861947fd5f13b0','own','small');
INSERT INTO "session" VALUES('waits','Busy?','000647667a19a040f7e9a8af','2026-01-02T12:02:01.000000+00:00','2026-01-02T12:02:01.000000+00:00','000647667a19a040f7e9a8af','own','small');
INSERT INTO "session" VALUES('streams','Count to three.','000647667dad27409aabb4cc','2026-01-02T12:03:01.000000+00:00','2026-01-02T12:03:01.000000+00:00','000647667dad27409aabb4cc','own','small');
CREATE INDEX session_activity ON session (activity);
CREATE INDEX session_leaf ON session (leaf);
CREATE INDEX entry_session ON entry (session, id);
CREATE INDEX entry_parent ON entry (parent);
CREATE INDEX entry_attempt ON entry (session, id) WHERE kind = 'attempt';
CREATE INDEX entry_open ON entry (id) WHERE state = 'open';
COMMIT;
