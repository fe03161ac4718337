/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "member.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "model/json-print.h"
#include "util/ini-text.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define FILE_MAX (1u << 20) /* bytes */
#define VERSION 1
#define DIGITS "0123456789abcdef"
#define SETTING_HOLDS_NS (5400 * (int64_t)NS_PER_S)

static int make_digits(char *text, size_t n)
{
        uint8_t bytes[MEMBER_TOKEN_DIGITS / 2];

        if (getrandom(bytes, n / 2, 0) != (ssize_t)(n / 2))
                return -EIO;
        for (size_t i = 0; i < n; i++)
                text[i] = DIGITS[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
        text[n] = '\0';
        return 0;
}

int member_renew(struct member *member, int64_t now_ns)
{
        char client[UPLOAD_CLIENT_DIGITS + 1], token[MEMBER_TOKEN_DIGITS + 1];
        int err = make_digits(client, UPLOAD_CLIENT_DIGITS);

        if (!err)
                err = make_digits(token, MEMBER_TOKEN_DIGITS);
        if (err)
                return err;
        memcpy(member->client, client, sizeof(client));
        memcpy(member->token, token, sizeof(token));
        member->joined_ns = now_ns;
        member->from_ns = now_ns;
        member->shares_profile = false;
        *member->profile_sent = '\0';
        member->next = member->sent_ns = member->sent_samples = member->sent_bytes = member->refused_ns = 0;
        return 0;
}

int member_new(const char *where, int64_t now_ns, struct member *ret)
{
        struct member member = { .where = strdup(where) };
        int err = member.where ? member_renew(&member, now_ns) : -ENOMEM;

        if (err)
                member_clear(&member);
        else
                *ret = member;
        return err;
}

void member_clear(struct member *member)
{
        free(member->where);
        free(member->named);
        *member = (struct member){ .where = NULL };
}

static int compare_named(const void *key, const void *element)
{
        return strcmp(key, element);
}

static size_t find_named(const struct member *member, const char *hash)
{
        return util_lower_bound(hash, member->named, member->n_named, sizeof(*member->named), compare_named);
}

bool member_may_name(const struct member *member, const char *hash)
{
        size_t at = find_named(member, hash);

        return at < member->n_named && strcmp(member->named[at], hash) == 0;
}

int member_add_named(struct member *member, const char *hash)
{
        size_t at = find_named(member, hash);
        void *grown;

        if (at < member->n_named && strcmp(member->named[at], hash) == 0)
                return 0;
        if (member->n_named >= MEMBER_NAMED_MAX)
                return -ENOSPC;
        grown = reallocarray(member->named, member->n_named + 1, sizeof(*member->named));
        if (!grown)
                return -ENOMEM;
        member->named = grown;
        memmove(member->named + at + 1, member->named + at, (member->n_named - at) * sizeof(*member->named));
        snprintf(member->named[at], sizeof(*member->named), "%s", hash);
        member->n_named++;
        return 0;
}

void member_add_setting(struct member *member, const struct setting *setting)
{
        size_t drop = 0, kept;

        /* Also removes later ones, made while the clock was ahead. */
        while (member->n_settings > 0 && member->settings[member->n_settings - 1].time_ns >= setting->time_ns)
                member->n_settings--;
        if (member->n_settings == MEMBER_SETTINGS_MAX)
                drop = 1;
        kept = member->n_settings - drop;
        memmove(member->settings, member->settings + drop, kept * sizeof(*member->settings));
        member->settings[kept] = *setting;
        member->n_settings = kept + 1;
}

const struct setting *member_find_setting(const struct member *member, int64_t time_ns)
{
        for (size_t i = member->n_settings; i > 0; i--) {
                const struct setting *setting = &member->settings[i - 1];

                if (setting->time_ns <= time_ns)
                        return setting->time_ns >= time_ns - SETTING_HOLDS_NS ? setting : NULL;
        }
        return NULL;
}

static bool take_digits(const struct cJSON *json, const char *key, size_t n, char *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        if (!text || strlen(text) != n || strspn(text, DIGITS) != n)
                return false;
        memcpy(ret, text, n + 1);
        return true;
}

/* Numbers are stored as texts, since a double cannot hold a time in ns exactly. */
static bool take_number(const struct cJSON *json, const char *key, int64_t *ret)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));

        return text && util_parse_i64(text, ret) == 0;
}

static int take_named(const struct cJSON *json, struct member *member)
{
        const struct cJSON *item;

        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "named")) {
                const char *hash = cJSON_GetStringValue(item);
                int err = hash && name_hash_is(hash) ? member_add_named(member, hash) : -EINVAL;

                if (err)
                        return err == -ENOSPC ? -EINVAL : err;
        }
        return 0;
}

static int take_settings(const struct cJSON *json, struct member *member)
{
        const struct cJSON *item;

        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "settings")) {
                const char *profile = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "profile"));
                const struct cJSON *external = cJSON_GetObjectItemCaseSensitive(item, "external");
                const struct cJSON *refresh = cJSON_GetObjectItemCaseSensitive(item, "refresh_hz");
                struct setting setting = { .external = cJSON_IsBool(external) ? cJSON_IsTrue(external) : -1 };

                if (!take_number(item, "time_ns", &setting.time_ns) || (profile && !setting_is_profile(profile)))
                        return -EINVAL;
                setting.refresh_hz = cJSON_IsNumber(refresh) ? refresh->valueint : 0;
                if (setting.refresh_hz && setting_refresh_class(setting.refresh_hz) != setting.refresh_hz)
                        return -EINVAL;
                snprintf(setting.profile, sizeof(setting.profile), "%s", profile ? profile : "");
                member_add_setting(member, &setting);
        }
        return 0;
}

static int take_watches(const struct cJSON *json, struct member *member)
{
        const struct cJSON *item;

        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "watches"))
                if (member->n_watches >= WATCHES_MAX || watch_from_json(item, &member->watches[member->n_watches++]) <
                    0)
                        return -EINVAL;
        return 0;
}

static int take_shown(const struct cJSON *json, struct member *member)
{
        const struct cJSON *item;

        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, "findings"))
                if (member->n_shown >= SHOWN_MAX || shown_from_json(item, &member->shown[member->n_shown++]) < 0)
                        return -EINVAL;
        return 0;
}

/* Both keys are missing where nothing was refused. */
static int take_refused(const struct cJSON *json, struct member *member)
{
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "refused"));

        if (!cJSON_HasObjectItem(json, "refused"))
                return 0;
        return text && take_number(json, "refused_ns", &member->refused_ns) && member->refused_ns > 0 &&
               (size_t)snprintf(member->refused, sizeof(member->refused), "%s", text) < sizeof(member->refused) ? 0 :
               -EINVAL;
}

static int take_all(const struct cJSON *json, struct member *member)
{
        const char *where = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "where"));
        int64_t version;

        if (!take_number(json, "version", &version) || version != VERSION || !where || !*where ||
            strlen(where) >= MEMBER_WHERE_MAX ||
            !take_digits(json, "client", UPLOAD_CLIENT_DIGITS, member->client) ||
            !take_digits(json, "token", MEMBER_TOKEN_DIGITS, member->token) ||
            !take_number(json, "joined_ns", &member->joined_ns) || !take_number(json, "from_ns", &member->from_ns) ||
            !take_number(json, "next", &member->next) || member->next < 0 ||
            !take_number(json, "sent_ns", &member->sent_ns) ||
            !take_number(json, "sent_samples", &member->sent_samples) ||
            !take_number(json, "sent_bytes", &member->sent_bytes))
                return -EINVAL;
        if (cJSON_HasObjectItem(json, "forgotten") &&
            !take_digits(json, "forgotten", UPLOAD_CLIENT_DIGITS, member->forgotten))
                return -EINVAL;
        member->shares_profile = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "shares_profile"));
        if (cJSON_HasObjectItem(json, "profile_sent") &&
            !take_digits(json, "profile_sent", MEMBER_TOKEN_DIGITS, member->profile_sent))
                return -EINVAL;
        member->where = strdup(where);
        if (!member->where)
                return -ENOMEM;
        if (take_refused(json, member) < 0 || take_settings(json, member) < 0 || take_watches(json, member) < 0 ||
            take_shown(json, member) < 0)
                return -EINVAL;
        return take_named(json, member);
}

int member_parse(const char *text, struct member *ret)
{
        struct member member = { .where = NULL };
        struct cJSON *json = cJSON_Parse(text);
        int err = json_failed() ? -ENOMEM : cJSON_IsObject(json) ? take_all(json, &member) : -EINVAL;

        cJSON_Delete(json);
        if (err)
                member_clear(&member);
        else
                *ret = member;
        return err;
}

int member_read(const char *path, const struct log *log, struct member *ret)
{
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err;

        if (access(path, F_OK) < 0 && errno == ENOENT)
                return -ENOENT;
        err = ini_text_read(path, FILE_MAX, log, &text, &length);
        if (err)
                return err == -ENOENT ? -EIO : err;
        err = member_parse(text, ret);
        if (err)
                log_error(log, "%s cannot be used: %s; joulecast community leave removes it", path,
                          err == -EINVAL ? _("it is not a file of joulecast community, or damaged") : util_reason(err));
        return err;
}

static void add_number(struct cJSON *json, const char *key, int64_t number)
{
        char text[32];

        snprintf(text, sizeof(text), "%lld", (long long)number);
        cJSON_AddStringToObject(json, key, text);
}

static void add_settings(struct cJSON *json, const struct member *member)
{
        struct cJSON *list = cJSON_AddArrayToObject(json, "settings");

        for (size_t i = 0; i < member->n_settings; i++) {
                const struct setting *setting = &member->settings[i];
                struct cJSON *item = cJSON_CreateObject();

                add_number(item, "time_ns", setting->time_ns);
                if (*setting->profile)
                        cJSON_AddStringToObject(item, "profile", setting->profile);
                if (setting->refresh_hz)
                        cJSON_AddNumberToObject(item, "refresh_hz", setting->refresh_hz);
                if (setting->external >= 0)
                        cJSON_AddBoolToObject(item, "external", setting->external > 0);
                cJSON_AddItemToArray(list, item);
        }
}

static char *print(const struct member *member)
{
        struct cJSON *json = cJSON_CreateObject(), *named, *watches, *shown;

        add_number(json, "version", VERSION);
        cJSON_AddStringToObject(json, "where", member->where);
        cJSON_AddStringToObject(json, "client", member->client);
        cJSON_AddStringToObject(json, "token", member->token);
        add_number(json, "joined_ns", member->joined_ns);
        add_number(json, "from_ns", member->from_ns);
        add_number(json, "next", member->next);
        add_number(json, "sent_ns", member->sent_ns);
        add_number(json, "sent_samples", member->sent_samples);
        add_number(json, "sent_bytes", member->sent_bytes);
        if (member->refused_ns) {
                add_number(json, "refused_ns", member->refused_ns);
                cJSON_AddStringToObject(json, "refused", member->refused);
        }
        if (*member->forgotten)
                cJSON_AddStringToObject(json, "forgotten", member->forgotten);
        if (member->shares_profile)
                cJSON_AddTrueToObject(json, "shares_profile");
        if (*member->profile_sent)
                cJSON_AddStringToObject(json, "profile_sent", member->profile_sent);
        named = cJSON_AddArrayToObject(json, "named");
        for (size_t i = 0; i < member->n_named; i++)
                cJSON_AddItemToArray(named, cJSON_CreateString(member->named[i]));
        add_settings(json, member);
        watches = cJSON_AddArrayToObject(json, "watches");
        for (size_t i = 0; i < member->n_watches; i++)
                cJSON_AddItemToArray(watches, watch_json(&member->watches[i]));
        shown = cJSON_AddArrayToObject(json, "findings");
        for (size_t i = 0; i < member->n_shown; i++)
                cJSON_AddItemToArray(shown, shown_json(&member->shown[i]));
        return json_print(json, JSON_INDENTED);
}

int member_write(const char *path, const struct member *member, const struct log *log)
{
        _cleanup_free_ char *text = print(member);
        int err = text ? util_write_file(path, text, strlen(text), 0600) : -ENOMEM;

        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}
