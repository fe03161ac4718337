/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gains.h"

#include <string.h>

#include "discharge.h"
#include "traits.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"
#include "versions.h"

#define SPAN_NS (600 * (int64_t)NS_PER_S) /* as in uploads */
#define FORGOTTEN_NS (90 * 86400 * (int64_t)NS_PER_S)

static const char *feature_of(const struct findings_own *own, const char *key)
{
        for (size_t i = 0; i < own->n_features; i++)
                if (strcmp(own->features[i].key, key) == 0)
                        return own->features[i].value;
        return "";
}

static const char *version_of(const struct findings_own *own, const char *app)
{
        for (size_t i = 0; i < own->n_apps; i++)
                if (strcmp(own->apps[i].name, app) == 0)
                        return own->apps[i].version;
        return "";
}

static struct watch *find_watch(struct member *member, enum finding_kind kind, const char *app, const char *value)
{
        for (size_t i = 0; i < member->n_watches; i++)
                if (member->watches[i].kind == kind && strcmp(member->watches[i].app, app) == 0 &&
                    (kind == FINDING_CLOSE || strcmp(member->watches[i].value, value) == 0))
                        return &member->watches[i];
        return NULL;
}

static void drop_watch(struct member *member, size_t i)
{
        member->n_watches--;
        memmove(&member->watches[i], &member->watches[i + 1], (member->n_watches - i) * sizeof(*member->watches));
}

/* Removes the oldest suggestion that was not followed, or else the oldest one. */
static void make_room(struct member *member, int64_t now_ns)
{
        for (size_t i = member->n_watches; i > 0; i--)
                if (member->watches[i - 1].told_ns < now_ns - FORGOTTEN_NS || member->watches[i - 1].told_ns > now_ns)
                        drop_watch(member, i - 1);
        for (size_t i = 0; member->n_watches >= WATCHES_MAX && i < member->n_watches; i++)
                if (!member->watches[i].since_ns && !member->watches[i].act)
                        drop_watch(member, i);
        if (member->n_watches >= WATCHES_MAX)
                drop_watch(member, 0);
}

/* Adds a finding that is not watched yet. */
static struct watch *add_watch(struct member *member, enum finding_kind kind, const char *app, int64_t now_ns)
{
        struct watch *watch;

        make_room(member, now_ns);
        watch = &member->watches[member->n_watches++];
        *watch = (struct watch){ .kind = kind, .told_ns = now_ns, .until_ns = INT64_MIN };
        snprintf(watch->app, sizeof(watch->app), "%s", app);
        return watch;
}

void gains_tell(struct member *member, const struct findings *findings, const struct findings_own *own, int64_t now_ns)
{
        for (size_t i = 0; i < MIN(findings->n, (size_t)WATCHES_MAX); i++) {
                const struct finding *finding = &findings->list[i];
                struct watch *watch;

                if (finding->kind == FINDING_RESTART || strlen(finding->app) >= sizeof(watch->app) ||
                    find_watch(member, finding->kind, finding->app, finding->value))
                        continue;
                watch = add_watch(member, finding->kind, finding->app, now_ns);
                if (finding->kind == FINDING_CLOSE)
                        continue;
                snprintf(watch->value, sizeof(watch->value), "%s", finding->value);
                snprintf(watch->was, sizeof(watch->was), "%s",
                         finding->kind == FINDING_UPDATE ? version_of(own, finding->app) :
                                                           feature_of(own, finding->value));
        }
}

static bool in_use(const struct discharge_list *list, const struct discharge *span, const char *app)
{
        for (size_t i = 0; i < span->n_apps; i++)
                if (strcmp(list->names[list->apps[span->first_app + i].name], app) == 0)
                        return true;
        return false;
}

static void take_spans(struct watch *watch, const struct discharge_list *list)
{
        for (size_t i = 0; i < list->n; i++) {
                const struct discharge *span = &list->spans[i];
                double seconds = (double)(span->t2_ns - span->t_ns) / (double)NS_PER_S;
                double rate = (span->level_ppm - span->level2_ppm) / 1e6 / seconds;

                /* The spans' times are whole seconds, but until_ns is exact. */
                if (!span->asleep && (watch->until_ns == INT64_MIN ||
                                      span->t_ns >= watch->until_ns - (int64_t)NS_PER_S))
                        watch_take(watch, span->t_ns, rate, in_use(list, span, watch->app));
        }
        if (list->n > 0)
                watch->until_ns = MAX(watch->until_ns, list->until_ns);
}

static void look(const struct session *session, struct member *member, int64_t now_ns)
{
        struct traits traits;

        traits_read(session->root_fd, session->profile, &traits);
        for (size_t i = 0; i < member->n_watches; i++) {
                struct watch *watch = &member->watches[i];
                const struct findings_feature features[] = { { "kernel", traits.kernel }, { "mesa", traits.mesa },
                                                             { "firmware", traits.firmware } };
                const struct findings_own own = { .features = features, .n_features = ARRAY_SIZE(features) };
                char version[1][VERSION_SIZE] = { "" };
                const char *const app[] = { watch->app };

                if (watch->kind == FINDING_UPDATE && versions_of_apps(session->root_fd, app, 1, version) < 0)
                        continue;
                watch_see(watch, watch->kind == FINDING_UPDATE ? version[0] : feature_of(&own, watch->value), now_ns);
        }
}

int gains_follow(struct session *session, struct member *member)
{
        struct discharge_wish wish = { .from_ns = INT64_MAX, .to_ns = values_now_ns(), .length_ns = SPAN_NS };
        _cleanup_(discharge_clear) struct discharge_list list = { .n = 0 };
        int code;

        if (member->n_watches == 0)
                return CODE_OK;
        code = session_open_files(session);
        if (code != CODE_OK)
                return code;
        wish.profile = session->profile;
        for (size_t i = 0; i < member->n_watches; i++)
                wish.from_ns = MIN(wish.from_ns, member->watches[i].until_ns);
        if (discharge_read(session->store, &wish, &list) < 0)
                return CODE_FAILED;
        /* A change seen now was made after these spans, so they count as before it. */
        for (size_t i = 0; i < member->n_watches; i++)
                take_spans(&member->watches[i], &list);
        look(session, member, values_now_ns());
        return CODE_OK;
}

int gains_act(struct session *session, struct member *member, const struct shown *shown, enum watch_act act)
{
        struct watch *watch = find_watch(member, shown->kind, shown->app, shown->value);
        int64_t now_ns = values_now_ns();
        int code;

        if (!watch) {
                const char *const app[] = { shown->app };
                char version[1][VERSION_SIZE] = { "" };

                if (shown->kind == FINDING_UPDATE && versions_of_apps(session->root_fd, app, 1, version) < 0)
                        return CODE_FAILED;
                watch = add_watch(member, shown->kind, shown->app, now_ns);
                snprintf(watch->value, sizeof(watch->value), "%s", shown->value);
                snprintf(watch->was, sizeof(watch->was), "%s", version[0]);
        }
        code = gains_follow(session, member); /* spans until now are before the act */
        if (code != CODE_OK)
                return code;
        watch_act(watch, act, now_ns);
        look(session, member, now_ns);
        return CODE_OK;
}
