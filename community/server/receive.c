/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "shared/name-hash.h"
#include "shared/scan.h"
#include "intake.h"
#include "receive.h"
#include "util/util.h"

#define HISTORY_FEW 100   /* so many samples more, and so many times as many, are summed up at once */
#define HISTORY_TIMES 4
#define FULL_RETRY_S 3600
#define GUESS_NS_PER_BYTE 500 /* an unpacked byte takes about so long */
#define NAMED_MAX 20 /* left-out lines that are reported one by one */

struct upload {
        struct receiver *receiver;
        struct pool_place *place;
        const char *token, *network, *client;
        struct answer *answer;      /* the response, if the upload was refused */
        struct intake intake;
        struct quota_counts kept;   /* counts of the client, before this upload and then with it */
        struct quota_counts added;
        cJSON *why, *named;
        bool limited;               /* its network has a share of the server's time */
        bool first;                 /* this is the client's first upload */
        bool no_memory;
};

/*
 * Unpacks a body, at most RECEIVE_UNPACKED_MAX bytes, of one or several members, as gzip files may have. Returns 0;
 * -E2BIG; -EINVAL: damaged; -ENOMEM.
 */
static int unpack(const char *body, size_t length, char **ret, size_t *ret_length)
{
        z_stream stream = { .next_in = (unsigned char *)(uintptr_t)body, .avail_in = (unsigned)length };
        _cleanup_free_ char *text = malloc(RECEIVE_UNPACKED_MAX);
        int code;

        if (!text || inflateInit2(&stream, 15 + 16) != Z_OK)
                return -ENOMEM;
        stream.next_out = (unsigned char *)text;
        stream.avail_out = RECEIVE_UNPACKED_MAX;
        while ((code = inflate(&stream, Z_FINISH)) == Z_STREAM_END && stream.avail_in)
                (void)inflateReset(&stream);
        *ret_length = RECEIVE_UNPACKED_MAX - stream.avail_out;
        inflateEnd(&stream);
        if (code != Z_STREAM_END)
                return stream.avail_out == 0 ? -E2BIG : -EINVAL;
        *ret = TAKE_PTR(text);
        return 0;
}

static int unpack_any(const char *body, size_t length, char **ret, size_t *ret_length)
{
        if (length >= 2 && (unsigned char)body[0] == 0x1F && (unsigned char)body[1] == 0x8B)
                return unpack(body, length, ret, ret_length);
        *ret = malloc(length + 1);
        if (!*ret)
                return -ENOMEM;
        memcpy(*ret, body, length);
        *ret_length = length;
        return 0;
}

/* Calls @take for each line. */
static int each_line(const char *text, size_t length, int (*take)(void *data, const char *line, size_t length),
                     void *data)
{
        const char *end = text + length;
        int err = 0;

        while (!err && text < end) {
                const char *newline = memchr(text, '\n', (size_t)(end - text));
                size_t n = (size_t)((newline ? newline : end) - text);

                err = take(data, text, memchr(text, '\0', n) || n >= UPLOAD_LINE_MAX ? SIZE_MAX : n);
                text += n + 1;
        }
        return err;
}

/* Reads the client's id from the first line that is not blank. */
static int find_client(void *data, const char *line, size_t length)
{
        char *client = data;
        struct upload_header header;
        const char *why;
        int err;

        if (length == SIZE_MAX || scan_done(&(struct scan){ .at = line, .end = line + length }))
                return length == SIZE_MAX ? -EINVAL : 0;
        err = upload_read_header(line, length, &header, &why);
        if (err < 0)
                return err;
        memcpy(client, header.client, sizeof(header.client));
        if (header.forget)
                err = -EINVAL;
        upload_header_clear(&header);
        return err ? err : 1;
}

static int refuse(struct upload *upload, int status, const char *sentence)
{
        answer_error(upload->answer, status, sentence);
        return -EPERM;
}

static void bad_line(void *data, uint64_t line, const char *why)
{
        struct upload *upload = data;
        _cleanup_free_ char *text = NULL;
        cJSON *item;

        if (upload->intake.counts.bad > NAMED_MAX)
                return;
        item = asprintf(&text, "line %" PRIu64 ": %s", line, why) < 0 ? NULL : cJSON_CreateString(text);
        upload->no_memory |= !item || !cJSON_AddItemToArray(upload->why, item);
}

static int check_header(void *data, const struct upload_header *header)
{
        struct upload *upload = data;

        if (strcmp(header->client, upload->client) != 0 || header->forget)
                return refuse(upload, 400, "an upload is of one client, and forgetting is DELETE /v1/me");
        for (size_t i = 0; i < header->n_apps; i++)
                if (name_hash_is(header->apps[i].name) && upload->receiver->may_name &&
                    upload->receiver->may_name(upload->receiver->data, name_hash_number(header->apps[i].name))) {
                        cJSON *item = cJSON_CreateString(header->apps[i].name);

                        upload->no_memory |= !item || !cJSON_AddItemToArray(upload->named, item);
                }
        return 0;
}

static int take_line(void *data, const char *line, size_t length)
{
        struct upload *upload = data;
        const struct intake_counts *counts = &upload->intake.counts;

        if (counts->added + counts->known + upload->place->writer.buffered >= RECEIVE_SAMPLES_MAX)
                return refuse(upload, 413, "an upload has at most 2000 samples; send more in the next");
        if (counts->uses > RECEIVE_USES_MAX)
                return refuse(upload, 413, "an upload names apps at most 100000 times in its samples; send more in the"
                                           " next");
        return intake_line(&upload->intake, line, length);
}

/* Checks whether this token may upload for this client. */
static int admit(struct upload *upload)
{
        struct writer *writer = &upload->place->writer;
        struct known_client *client = NULL;
        char token[65] = "";
        bool quarantined = false;
        int rc = writer_find(writer, upload->client, &client, token, &quarantined);

        if (rc < 0)
                return rc;
        if (rc > 0 && strcmp(token, upload->token) != 0)
                return refuse(upload, 401, *token ? "this token is not that of the client" :
                              "this client came by a file or a folder, and has no token");
        if (quarantined)
                return refuse(upload, 403, "this client is in quarantine; ask whoever runs the server");
        upload->first = rc == 0;
        if ((upload->first &&
             !limits_take(upload->receiver->limits, "new", upload->network, upload->receiver->new_clients)) ||
            !limits_take(upload->receiver->limits, "client", upload->token, RECEIVE_CLIENT_HOUR)) {
                rc = refuse(upload, 429, upload->first ?
                            "too many new clients come from this network; try again in an hour" :
                            "this client sends too often; try again in an hour");
                upload->answer->retry_s = 3600;
                return rc;
        }
        return 0;
}

static int refuse_full(struct upload *upload, const char *why)
{
        int err = refuse(upload, 507, why);

        upload->answer->retry_s = FULL_RETRY_S;
        return err;
}

/* Adds the upload's counts. Refuses an upload that would take the client beyond its limit. */
static int take_quota(struct upload *upload, size_t length)
{
        struct writer *writer = &upload->place->writer;
        const struct quota_counts most = QUOTA_CLIENT;
        struct quota_counts *kept = &upload->kept;

        if (writer->names > 0 && !quota_takes_names(upload->receiver->quota))
                return refuse_full(upload, "the database of this server has as many names of apps as it may have, so"
                                           " that no new ones are taken now; ask whoever runs it");
        upload->added = (struct quota_counts){ (int64_t)upload->intake.counts.added, writer->names, 0 };
        if (upload->added.samples > 0 || writer->names > 0 || writer->contexts > 0)
                upload->added.bytes = (int64_t)length;
        kept->samples += upload->added.samples;
        kept->names += upload->added.names;
        kept->bytes += upload->added.bytes;
        if (quota_exceeds(kept, &most))
                return refuse(upload, 413, "of a client at most 200000 samples, 20000 new names of apps and 64 MiB are"
                                           " kept; forget it, or ask whoever runs the server");
        return upload->added.bytes ? writer_set_quota(writer, writer->clients, kept) : 0;
}

static int fix_token(struct upload *upload)
{
        struct writer *writer = &upload->place->writer;
        struct known_client *client = writer->clients;

        if (!client)
                return refuse(upload, 400, "there is no header that can be used");
        return upload->first ? writer_set_token(writer, client, upload->token, upload->network) : 0;
}

/* Sums need all samples of the client. Where those are many more than came, they are made before the next report. */
static int sum_up(struct upload *upload)
{
        struct writer *writer = &upload->place->writer;
        uint64_t before = (uint64_t)(upload->kept.samples - upload->added.samples);

        return before > HISTORY_FEW + HISTORY_TIMES * upload->intake.counts.added ? writer_defer(writer) :
               writer_refresh(writer);
}

static int take_all(struct upload *upload, const char *text, size_t length)
{
        int err = admit(upload);

        if (!err)
                err = writer_read_quota(&upload->place->writer, upload->place->writer.clients, &upload->kept);
        if (!err)
                err = each_line(text, length, take_line, upload);
        if (!err)
                err = intake_flush(&upload->intake);
        if (!err && upload->place->writer.clients)
                err = take_quota(upload, length);
        if (!err && upload->intake.counts.added)
                err = sum_up(upload);
        if (!err)
                err = fix_token(upload);
        return err ? err : upload->no_memory ? -ENOMEM : 0;
}

static void answer_counts(struct upload *upload)
{
        const struct intake_counts *counts = &upload->intake.counts;
        cJSON *object = cJSON_CreateObject();
        bool fine = object && cJSON_AddNumberToObject(object, "next",
                                                      (double)upload->place->writer.clients->next_seq) &&
                    cJSON_AddNumberToObject(object, "added", (double)counts->added) &&
                    cJSON_AddNumberToObject(object, "known", (double)counts->known) &&
                    cJSON_AddNumberToObject(object, "bad", (double)counts->bad) &&
                    cJSON_AddItemToObject(object, "why", upload->why);

        if (fine)
                upload->why = NULL;
        fine = fine && cJSON_AddItemToObject(object, "named", upload->named);
        if (fine)
                upload->named = NULL;
        answer_json(upload->answer, object);
}

static int take_within(struct upload *upload, const char *text, size_t length)
{
        struct database *database = upload->place->database;
        int err = quota_check(upload->receiver->quota, database);

        if (err == -EDQUOT)
                return refuse_full(upload, "the database of this server has as much as it may have, so that nothing"
                                           " is taken now; ask whoever runs it");
        if (!err)
                err = database_run(database, database->ops->begin_write);
        if (!err)
                err = take_all(upload, text, length);
        if (!err)
                err = database_run(database, "COMMIT");
        if (!err)
                quota_add(upload->receiver->quota, &upload->added);
        if (err == -EPERM && database_run(database, "ROLLBACK") < 0)
                err = -EIO;
        return err;
}

/* False: the network has had its share of the server's time, and that is the answer. */
static bool may_work(const struct receiver *receiver, const char *network, uint64_t guess_ns, struct answer *ret)
{
        if (limits_may_work(receiver->limits, network, guess_ns))
                return true;
        answer_error(ret, 429, "uploads of this network take too much of the server's time; try again in a minute");
        ret->retry_s = 60;
        return false;
}

/* A failure of this server is charged as no time. */
static void charge(const struct upload *upload, uint64_t guess_ns, uint64_t took_ns)
{
        if (upload->limited)
                limits_worked(upload->receiver->limits, upload->network, guess_ns, took_ns);
}

static void take_upload(struct upload *upload, const char *text, size_t length)
{
        uint64_t begun, guess_ns = GUESS_NS_PER_BYTE * length;
        int err;

        if (upload->limited && !may_work(upload->receiver, upload->network, guess_ns, upload->answer))
                return;
        if (pool_take(upload->receiver->pool, guess_ns, &upload->place) < 0) {
                charge(upload, guess_ns, 0);
                answer_unavailable(upload->answer);
                return;
        }
        begun = util_boottime_ns();
        upload->intake.writer = &upload->place->writer;
        err = intake_open(&upload->intake);
        if (!err)
                err = take_within(upload, text, length);
        if (!err)
                answer_counts(upload);
        else if (err != -EPERM)
                answer_unavailable(upload->answer);
        charge(upload, guess_ns, !err || err == -EPERM ? util_boottime_ns() - begun : 0);
        intake_close(&upload->intake);
        /*
         * An upload that was refused before its first line left the connection's memory unchanged, so it need
         * not be dropped.
         */
        pool_give(upload->receiver->pool, upload->place, err < 0 && (err != -EPERM || upload->intake.line > 0));
}

void receive_upload(struct receiver *receiver, const char *token, const char *network, bool limited, const char *body,
                    size_t length, struct answer *ret)
{
        _cleanup_free_ char *text = NULL;
        char client[UPLOAD_CLIENT_DIGITS + 1] = "";
        size_t n = 0;
        struct upload upload = { .receiver = receiver, .token = token, .network = network, .client = client,
                                 .limited = limited, .answer = ret,
                                 .intake = { .bad = bad_line, .header = check_header } };
        int err;

        if (limited && !may_work(receiver, network, 0, ret))
                return;
        err = unpack_any(body, length, &text, &n);
        upload.intake.data = &upload;
        if (err < 0) {
                answer_error(ret, err == -E2BIG ? 413 : err == -EINVAL ? 400 : 503,
                             err == -E2BIG ? "an upload unpacks to at most 4 MiB" : err == -EINVAL ?
                             "the compressed data are damaged or cut off" :
                                             "there is no memory now");
                return;
        }
        if (each_line(text, n, find_client, client) <= 0) {
                answer_error(ret, 400, "an upload begins with a header: a line with \"v\", \"client\", \"first\" and"
                                       " \"apps\"");
                return;
        }
        upload.why = cJSON_CreateArray();
        upload.named = cJSON_CreateArray();
        if (upload.why && upload.named)
                take_upload(&upload, text, n);
        else
                answer_unavailable(ret);
        cJSON_Delete(upload.why);
        cJSON_Delete(upload.named);
}
