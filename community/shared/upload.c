/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <string.h>

#include "model/component.h"
#include "scan.h"
#include "upload.h"
#include "util/util.h"

#define LEVEL_MAX_PPM 1000000
#define FIRST_MAX 1000000000000000 /* a double of JSON holds it exactly, and one more line cannot overflow */
#define OWN_MAX_W 1000 /* limit for all apps together: more than any portable device draws */
#define OWN_MAX_MJ 1000000000 /* 1 MJ: several times what any portable battery holds */

static int wrong(const char **why, const char *text)
{
        *why = text;
        return -EINVAL;
}

static bool is_key(const struct scan_text *key, const char *name)
{
        return key->length == strlen(name) && memcmp(key->text, name, key->length) == 0;
}

void upload_header_clear(struct upload_header *header)
{
        for (size_t i = 0; i < header->n_apps; i++) {
                free(header->apps[i].id);
                free(header->apps[i].name);
                free(header->apps[i].version);
        }
        free(header->apps);
        free(header->features);
        *header = (struct upload_header){ .first = 0 };
}

bool upload_is_header(const char *line, size_t length)
{
        struct scan scan = { .at = line, .end = line + length };
        struct scan_text key, value;

        if (!scan_take(&scan, '{'))
                return false;
        do {
                if (!scan_string(&scan, &key) || !scan_take(&scan, ':'))
                        return false;
                if (is_key(&key, "v") || is_key(&key, "client"))
                        return true;
        } while (scan_value(&scan, &value) && scan_take(&scan, ','));
        return false;
}

static int compare_apps(const void *a, const void *b)
{
        return strcmp(((const struct upload_app *)a)->id, ((const struct upload_app *)b)->id);
}

static int read_app(struct scan *scan, struct upload_header *header, const char **why)
{
        struct scan_text id, name;
        char id_text[UPLOAD_TEXT_MAX], name_text[UPLOAD_NAME_MAX];
        struct upload_app *app;
        int err;

        if (!scan_string(scan, &id) || !scan_take(scan, ':') || !scan_string(scan, &name) ||
            !scan_unescape(&id, id_text, sizeof(id_text)) || !scan_unescape(&name, name_text, sizeof(name_text)) ||
            !*id_text || !*name_text)
                return wrong(why, "\"apps\" is not of the form {\"ID\":\"name\"} with names of 1 to 250 bytes of"
                                  " UTF-8 without control characters");
        if (header->n_apps >= UPLOAD_APPS_MAX)
                return wrong(why, "\"apps\" has more than 16384 apps");
        err = util_grow(&header->apps, &header->capacity, header->n_apps + 1, sizeof(*header->apps));
        if (err < 0)
                return err;
        app = &header->apps[header->n_apps++];
        *app = (struct upload_app){ .id = strdup(id_text), .name = strdup(name_text) };
        return app->id && app->name ? 0 : -ENOMEM;
}

static int read_apps(struct scan *scan, struct upload_header *header, const char **why)
{
        int err;

        if (!scan_take(scan, '{'))
                return wrong(why, "\"apps\" is no object");
        if (scan_take(scan, '}'))
                return 0;
        do {
                err = read_app(scan, header, why);
                if (err < 0)
                        return err;
        } while (scan_take(scan, ','));
        if (!scan_take(scan, '}'))
                return wrong(why, "\"apps\" does not end");
        qsort(header->apps, header->n_apps, sizeof(*header->apps), compare_apps);
        for (size_t i = 1; i < header->n_apps; i++)
                if (strcmp(header->apps[i - 1].id, header->apps[i].id) == 0)
                        return wrong(why, "\"apps\" has an ID twice");
        return 0;
}

static int read_client(struct scan *scan, char *client, const char **why)
{
        struct scan_text text;

        if (!scan_string(scan, &text) || text.length != UPLOAD_CLIENT_DIGITS)
                return wrong(why, "\"client\" is not 32 hexadecimal digits");
        for (size_t i = 0; i < text.length; i++) {
                char c = text.text[i];

                if (c >= 'A' && c <= 'F')
                        c = (char)(c - 'A' + 'a');
                if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
                        return wrong(why, "\"client\" is not 32 hexadecimal digits");
                client[i] = c;
        }
        client[text.length] = '\0';
        return 0;
}

/* A string, or another scalar as it is written; null is unknown. */
static int read_text(struct scan *scan, char *buf, const char **why)
{
        struct scan_text text;
        struct scan inner;

        if (!scan_value(scan, &text))
                return wrong(why, "it is not JSON");
        inner = (struct scan){ .at = text.text, .end = text.text + text.length };
        if (*text.text == '"')
                (void)scan_string(&inner, &text);
        else if (is_key(&text, "null"))
                text.length = 0;
        return scan_unescape(&text, buf, UPLOAD_TEXT_MAX) ? 0 :
               wrong(why, "\"os\" or \"model\" is no text of at most 120 bytes without control characters");
}

static int read_features(struct scan *scan, struct upload_header *header, const char **why)
{
        static const char form[] = "\"features\" is no object of at most 4000 bytes";
        struct scan_text text;

        if (!scan_value(scan, &text))
                return wrong(why, form);
        if (is_key(&text, "null"))
                return 0;
        if (*text.text != '{' || text.length > 4000)
                return wrong(why, form);
        for (size_t i = 0; i < text.length; i++)
                if ((unsigned char)text.text[i] >= 0x7F)
                        return wrong(why, "\"features\" is not ASCII");
        free(header->features);
        header->features = strndup(text.text, text.length);
        return header->features ? 0 : -ENOMEM;
}

enum {
        HAS_V = 1 << 0,
        HAS_CLIENT = 1 << 1,
        HAS_FIRST = 1 << 2,
        HAS_APPS = 1 << 3,
        HAS_FORGET = 1 << 4,
        HAS_VERSIONS = 1 << 5,
        HAS_OS = 1 << 6,
        HAS_MODEL = 1 << 7,
        HAS_FEATURES = 1 << 8,
        NEEDED = HAS_V | HAS_CLIENT | HAS_FIRST | HAS_APPS,
};

/* Only a true value is a request; anything else is none. */
static int read_forget(struct scan *scan, struct upload_header *header, const char **why)
{
        struct scan_text text;

        if (!scan_value(scan, &text))
                return wrong(why, "it is not JSON");
        header->forget = is_key(&text, "true");
        return 0;
}

static bool find_app(struct scan *scan, const struct upload_header *header, uint32_t *ret);

/* After the apps, wherever it stands in the header. */
static int read_versions(const struct scan_text *text, struct upload_header *header, const char **why)
{
        static const char form[] = "\"versions\" is not of the form {\"ID\":\"version\"} with IDs of \"apps\"";
        struct scan scan = { .at = text->text, .end = text->text + text->length };
        struct scan_text version;
        char buf[UPLOAD_TEXT_MAX];
        uint32_t app;

        if (!scan_take(&scan, '{'))
                return wrong(why, form);
        if (scan_take(&scan, '}'))
                return 0;
        do {
                if (!find_app(&scan, header, &app) || !scan_take(&scan, ':') || !scan_string(&scan, &version) ||
                    !scan_unescape(&version, buf, sizeof(buf)))
                        return wrong(why, form);
                if (header->apps[app].version)
                        return wrong(why, "\"versions\" has an ID twice");
                header->apps[app].version = strdup(buf);
                if (!header->apps[app].version)
                        return -ENOMEM;
        } while (scan_take(&scan, ','));
        return 0;
}

/* One key of a header and its value; @seen gets its bit, @versions the text of those. */
static int read_header_key(struct scan *scan, const struct scan_text *key, struct upload_header *header, unsigned *seen,
                           struct scan_text *versions, const char **why)
{
        struct scan_text ignored;
        unsigned bit = 0;
        int64_t version;
        int err = 0;

        if (is_key(key, "v")) {
                bit = HAS_V;
                if (!scan_integer(scan, &version) || version != 1)
                        err = wrong(why, "\"v\" is not 1: this program is too old for that upload");
        } else if (is_key(key, "client")) {
                bit = HAS_CLIENT;
                err = read_client(scan, header->client, why);
        } else if (is_key(key, "first")) {
                bit = HAS_FIRST;
                if (!scan_integer(scan, &header->first) || header->first < 0 || header->first > FIRST_MAX)
                        err = wrong(why, "\"first\" is no sequence number");
        } else if (is_key(key, "apps")) {
                bit = HAS_APPS;
                err = *seen & bit ? 0 : read_apps(scan, header, why);
        } else if (is_key(key, "forget")) {
                bit = HAS_FORGET;
                err = read_forget(scan, header, why);
        } else if (is_key(key, "versions")) {
                bit = HAS_VERSIONS;
                err = scan_value(scan, versions) ? 0 : wrong(why, "it is not JSON");
        } else if (is_key(key, "os")) {
                bit = HAS_OS;
                err = read_text(scan, header->os, why);
        } else if (is_key(key, "model")) {
                bit = HAS_MODEL;
                err = read_text(scan, header->model, why);
        } else if (is_key(key, "features")) {
                bit = HAS_FEATURES;
                err = read_features(scan, header, why);
        } else if (!scan_value(scan, &ignored)) {
                err = wrong(why, "it is not JSON");
        }
        if (!err && *seen & bit)
                err = wrong(why, "a key is there twice");
        *seen |= bit;
        return err;
}

static int read_header(struct scan *scan, struct upload_header *header, const char **why)
{
        struct scan_text key, versions = { .length = 0 };
        unsigned seen = 0;
        int err;

        if (!scan_take(scan, '{'))
                return wrong(why, "it is no JSON object");
        do {
                if (!scan_string(scan, &key) || !scan_take(scan, ':'))
                        return wrong(why, "it is not JSON");
                err = read_header_key(scan, &key, header, &seen, &versions, why);
                if (err < 0)
                        return err;
        } while (scan_take(scan, ','));
        if (!scan_take(scan, '}') || !scan_done(scan))
                return wrong(why, "it is not JSON, or something follows it");
        if (header->forget && (seen & (NEEDED | HAS_FORGET)) == (HAS_V | HAS_CLIENT | HAS_FORGET))
                return 0;
        header->forget = false;
        if ((seen & NEEDED) != NEEDED)
                return wrong(why, "a header needs \"v\", \"client\", \"first\" and \"apps\"");
        return versions.length ? read_versions(&versions, header, why) : 0;
}

int upload_read_header(const char *line, size_t length, struct upload_header *ret, const char **why)
{
        struct scan scan = { .at = line, .end = line + length };
        struct upload_header header = { .first = 0 };
        int err = read_header(&scan, &header, why);

        if (err < 0)
                upload_header_clear(&header);
        else
                *ret = header;
        return err;
}

static int compare_id(const void *key, const void *element)
{
        const struct scan_text *text = key;
        const char *id = ((const struct upload_app *)element)->id;
        size_t length = strlen(id);
        int order = memcmp(text->text, id, MIN(text->length, length));

        return order ? order : text->length < length ? -1 : text->length > length;
}

/* An ID is a number or a string; the header has it as a string. */
static bool find_app(struct scan *scan, const struct upload_header *header, uint32_t *ret)
{
        struct scan_text text;
        char buf[UPLOAD_TEXT_MAX];
        const struct upload_app *app;

        if (scan_take(scan, '"')) {
                scan->at--;
                if (!scan_string(scan, &text) || !scan_unescape(&text, buf, sizeof(buf)))
                        return false;
                text = (struct scan_text){ buf, strlen(buf) };
        } else if (!scan_value(scan, &text)) {
                return false;
        }
        app = header->n_apps ? bsearch(&text, header->apps, header->n_apps, sizeof(*header->apps), compare_id) : NULL;
        if (app)
                *ret = (uint32_t)(app - header->apps);
        return app != NULL;
}

static int read_list(struct scan *scan, const struct upload_header *header, struct upload_sample *ret, const char **why)
{
        if (!scan_take(scan, '['))
                return wrong(why, "\"apps\" is no list");
        if (scan_take(scan, ']'))
                return 0;
        do {
                if (ret->n_apps >= UPLOAD_SAMPLE_APPS)
                        return wrong(why, "\"apps\" has more than 1024 apps");
                if (!find_app(scan, header, &ret->apps[ret->n_apps++]))
                        return wrong(why, "\"apps\" names an ID that the header does not have");
        } while (scan_take(scan, ','));
        return scan_take(scan, ']') ? 0 : wrong(why, "it is not JSON");
}

/* As if it were not there. */
static bool take_null(struct scan *scan)
{
        struct scan_text value;

        return scan_value(scan, &value) && value.length == 4 && memcmp(value.text, "null", 4) == 0;
}

static int read_own(struct scan *scan, const struct upload_header *header, struct upload_sample *ret, const char **why)
{
        if (!scan_take(scan, '{'))
                return take_null(scan) ? 0 : wrong(why, "\"own_mj\" is no object");
        if (scan_take(scan, '}'))
                return 0;
        do {
                struct upload_own *own = &ret->own[ret->n_own];

                if (ret->n_own >= UPLOAD_SAMPLE_APPS)
                        return wrong(why, "\"own_mj\" has more than 1024 apps");
                if (!find_app(scan, header, &own->app))
                        return wrong(why, "\"own_mj\" names an ID that the header does not have");
                if (!scan_take(scan, ':') || !scan_integer(scan, &own->mj) || own->mj < 0 || own->mj > OWN_MAX_MJ)
                        return wrong(why, "\"own_mj\" has a value that is no energy from 0 to 1000000000 mJ");
                ret->n_own++;
        } while (scan_take(scan, ','));
        return scan_take(scan, '}') ? 0 : wrong(why, "it is not JSON");
}

/* Unknown components are left out. */
static int read_app_parts(struct scan *scan, uint32_t app, struct upload_sample *ret, const char **why)
{
        if (!scan_take(scan, '{'))
                return wrong(why, "\"parts_mj\" is no object of objects");
        if (scan_take(scan, '}'))
                return 0;
        do {
                struct scan_text name;
                int64_t mj;
                int component;

                if (!scan_string(scan, &name) || !scan_take(scan, ':') || !scan_integer(scan, &mj) || mj < 0 ||
                    mj > OWN_MAX_MJ)
                        return wrong(why, "\"parts_mj\" has a value that is no energy from 0 to 1000000000 mJ");
                component = component_find(name.text, name.length);
                if (component < 0)
                        continue;
                if (ret->n_parts >= UPLOAD_SAMPLE_PARTS)
                        return wrong(why, "\"parts_mj\" has more than 4096 parts");
                ret->parts[ret->n_parts++] = (struct upload_part){ app, component, mj };
        } while (scan_take(scan, ','));
        return scan_take(scan, '}') ? 0 : wrong(why, "it is not JSON");
}

static int read_parts(struct scan *scan, const struct upload_header *header, struct upload_sample *ret,
                      const char **why)
{
        if (!scan_take(scan, '{'))
                return take_null(scan) ? 0 : wrong(why, "\"parts_mj\" is no object of objects");
        if (scan_take(scan, '}'))
                return 0;
        do {
                uint32_t app;
                int err;

                if (!find_app(scan, header, &app) || !scan_take(scan, ':'))
                        return wrong(why, "\"parts_mj\" names an ID that the header does not have");
                err = read_app_parts(scan, app, ret, why);
                if (err < 0)
                        return err;
        } while (scan_take(scan, ','));
        return scan_take(scan, '}') ? 0 : wrong(why, "it is not JSON");
}

static int read_asleep(struct scan *scan, struct upload_sample *ret, const char **why)
{
        struct scan_text value;

        if (!scan_value(scan, &value))
                return wrong(why, "it is not JSON");
        ret->asleep = is_key(&value, "true");
        if (ret->asleep || is_key(&value, "false") || is_key(&value, "null"))
                return 0;
        return wrong(why, "\"asleep\" is not true or false");
}

static bool read_level(struct scan *scan, int32_t *ret)
{
        int64_t level;

        if (!scan_integer(scan, &level) || level < 0 || level > LEVEL_MAX_PPM)
                return false;
        *ret = (int32_t)level;
        return true;
}

enum {
        HAS_T = 1 << 0,
        HAS_T2 = 1 << 1,
        HAS_LEVEL = 1 << 2,
        HAS_LEVEL2 = 1 << 3,
        HAS_LIST = 1 << 4,
        HAS_OWN = 1 << 5,
        HAS_PARTS = 1 << 6,
        HAS_ASLEEP = 1 << 7,
        ALWAYS = HAS_T | HAS_T2 | HAS_LEVEL | HAS_LEVEL2,
};

static int read_sample_key(struct scan *scan, const struct scan_text *key, const struct upload_header *header,
                           struct upload_sample *ret, unsigned *seen, const char **why)
{
        unsigned bit = is_key(key, "t") ? HAS_T : is_key(key, "t2") ? HAS_T2 : is_key(key, "level_ppm") ? HAS_LEVEL :
                       is_key(key, "level2_ppm") ? HAS_LEVEL2 : is_key(key, "apps") ? HAS_LIST :
                       is_key(key, "own_mj") ? HAS_OWN : is_key(key, "parts_mj") ? HAS_PARTS :
                       is_key(key, "asleep") ? HAS_ASLEEP : 0;
        struct scan_text ignored;

        if (*seen & bit)
                return wrong(why, "a key is there twice");
        *seen |= bit;
        switch (bit) {
        case HAS_T:
        case HAS_T2:
                return scan_integer(scan, bit == HAS_T ? &ret->t_ns : &ret->t2_ns) ? 0 :
                       wrong(why, "\"t\" or \"t2\" is no time in ns");
        case HAS_LEVEL:
        case HAS_LEVEL2:
                return read_level(scan, bit == HAS_LEVEL ? &ret->level_ppm : &ret->level2_ppm) ? 0 :
                       wrong(why, "a level is not from 0 to 1000000 ppm");
        case HAS_LIST:
                return read_list(scan, header, ret, why);
        case HAS_OWN:
                return read_own(scan, header, ret, why);
        case HAS_PARTS:
                return read_parts(scan, header, ret, why);
        case HAS_ASLEEP:
                return read_asleep(scan, ret, why);
        }
        return scan_value(scan, &ignored) ? 0 : wrong(why, "it is not JSON");
}

/* Rejects values that no discharge can have. */
static int check_sample(const struct upload_sample *sample, const char **why)
{
        int64_t own_mj = 0;

        if (sample->asleep && sample->n_apps + sample->n_own + sample->n_parts > 0)
                return wrong(why, "\"asleep\" is true, but there are apps: none runs while a device is suspended");
        if (sample->t2_ns <= sample->t_ns)
                return wrong(why, "\"t2\" is not after \"t\": the clock was set back");
        /* The difference of two times that are centuries apart only fits without a sign. */
        if ((uint64_t)sample->t2_ns - (uint64_t)sample->t_ns >
            (sample->asleep ? UPLOAD_ASLEEP_MAX_NS : UPLOAD_SPAN_MAX_NS))
                return wrong(why, sample->asleep ? "\"t2\" is more than 31 days after \"t\": the clock jumped"
                                                 : "\"t2\" is more than a day after \"t\": the clock jumped");
        if (sample->level2_ppm > sample->level_ppm)
                return wrong(why, "the level rises: a sample is a span of discharge");
        for (size_t i = 0; i < sample->n_own; i++)
                own_mj += sample->own[i].mj;
        if (own_mj > (sample->t2_ns - sample->t_ns) / 1000000 * OWN_MAX_W)
                return wrong(why, "\"own_mj\" is more than 1000 W: no portable device draws that");
        return 0;
}

int upload_read_sample(const char *line, size_t length, const struct upload_header *header, struct upload_sample *ret,
                       const char **why)
{
        struct scan scan = { .at = line, .end = line + length };
        struct scan_text key;
        unsigned seen = 0;
        int err;

        ret->n_apps = ret->n_own = ret->n_parts = 0;
        ret->asleep = false;
        if (!scan_take(&scan, '{'))
                return wrong(why, "it is no JSON object");
        do {
                if (!scan_string(&scan, &key) || !scan_take(&scan, ':'))
                        return wrong(why, "it is not JSON");
                err = read_sample_key(&scan, &key, header, ret, &seen, why);
                if (err < 0)
                        return err;
        } while (scan_take(&scan, ','));
        if (!scan_take(&scan, '}') || !scan_done(&scan))
                return wrong(why, "it is not JSON, or something follows it");
        if ((seen & ALWAYS) != ALWAYS || !(seen & HAS_LIST || ret->asleep))
                return wrong(why, "a sample needs \"t\", \"t2\", \"level_ppm\", \"level2_ppm\" and \"apps\"");
        return check_sample(ret, why);
}
