/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "findings.h"
#include "fuzz.h"
#include "member.h"
#include "reply.h"
#include "util/util.h"
#include "versions.h"

/* The choice to share, a server's reply, and a flatpak's description: accepted values are in range. */

static void check_named(const struct member *member)
{
        fuzz_assert(member->n_named <= MEMBER_NAMED_MAX);
        for (size_t i = 0; i < member->n_named; i++) {
                fuzz_assert(name_hash_is(member->named[i]) && member_may_name(member, member->named[i]));
                fuzz_assert(i == 0 || strcmp(member->named[i - 1], member->named[i]) < 0);
        }
}

static void check_findings(const char *text)
{
        struct findings_app app = { .name = "browser", .version = "1.0" };
        const struct findings_feature feature = { "network", "wifi" };
        const struct findings_own own = { .client = "0123456789abcdef0123456789abcdef",
                                          .apps = &app,
                                          .n_apps = 1,
                                          .features = &feature,
                                          .n_features = 1,
                                          .full_j = 54000 };
        struct findings findings;

        name_hash_of(app.name, app.hash);
        if (findings_parse(text, &own, &findings) < 0)
                return;
        fuzz_assert(findings.n <= FINDINGS_MAX && findings.n_unknown <= FINDINGS_MAX && findings.clients >= 0);
        for (size_t i = 0; i < findings.n; i++)
                fuzz_assert(findings.list[i].app == app.name && !(findings.list[i].minutes <= 0));
        findings_clear(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = strndup((const char *)data, size);
        struct member member = { .where = NULL };
        struct place_receipt receipt;
        struct place_forgotten forgotten;
        char sentence[64], version[VERSION_SIZE];

        fuzz_assert(text);
        versions_first_release(text, version);
        fuzz_assert(strlen(version) < sizeof(version));
        if (member_parse(text, &member) == 0) {
                fuzz_assert(member.where && *member.where && strlen(member.where) < MEMBER_WHERE_MAX &&
                            member.next >= 0);
                fuzz_assert(strlen(member.client) == UPLOAD_CLIENT_DIGITS &&
                            strlen(member.token) == MEMBER_TOKEN_DIGITS);
                check_named(&member);
                fuzz_assert(member.n_settings <= MEMBER_SETTINGS_MAX);
                for (size_t i = 1; i < member.n_settings; i++)
                        fuzz_assert(member.settings[i - 1].time_ns < member.settings[i].time_ns);
        }
        fuzz_assert(member.n_watches <= WATCHES_MAX);
        for (size_t i = 0; i < member.n_watches; i++) {
                struct cost_value gain;

                fuzz_assert(*member.watches[i].app);
                fuzz_assert(member.watches[i].kind != FINDING_RESTART || member.watches[i].act);
                if (watch_gain(&member.watches[i], &gain))
                        fuzz_assert(gain.low <= gain.value && gain.value <= gain.high);
        }
        if (reply_to_upload(text, &member, &receipt) == 0)
                fuzz_assert(receipt.next >= 0);
        check_named(&member);
        if (reply_to_forget(text, &member, &forgotten) == 0)
                fuzz_assert(forgotten.confirmed);
        reply_error(text, sentence, sizeof(sentence));
        fuzz_assert(strlen(sentence) < sizeof(sentence));
        check_findings(text);
        member_clear(&member);
        return 0;
}
