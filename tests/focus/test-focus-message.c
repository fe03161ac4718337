/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Messages of the agents: which are valid, and how many an agent may send. */

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "focus-fixture.h"
#include "focus/focus.h"
#include "util/util.h"

static void messages(void)
{
        struct focus_message message = good(), read;

        check_int(focus_message_check(&message, sizeof(message), NOW, &read), 0);
        check_text(read.app_id, "foot");
        check_int(focus_message_check(&message, sizeof(message) - 1, NOW, &read), -EMSGSIZE);
        check_int(focus_message_check(&message, sizeof(message) + 1, NOW, &read), -EMSGSIZE);
        check_int(focus_message_check(&message, 0, NOW, &read), -EMSGSIZE);
#define BAD(change, wanted)                                                                                  \
        do {                                                                                                 \
                message = good();                                                                            \
                change;                                                                                      \
                check_int(focus_message_check(&message, sizeof(message), NOW, &read), wanted);               \
        } while (0)
        BAD(message.magic ^= 1, -EPROTO);
        BAD(message.version++, -EPROTO);
        BAD(message.size--, -EPROTO);
        BAD(message.have |= 1u << 30, -EBADMSG);
        BAD(message.have &= ~(uint32_t)FOCUS_KNOWN, -EBADMSG);    /* an app, and unknown */
        BAD(message.have &= ~(uint32_t)FOCUS_APP, -EBADMSG);      /* no app, but a name */
        BAD(message.app_id[0] = '\0', -EBADMSG);                  /* an app without a name */
        BAD(memset(message.app_id, 'a', FOCUS_APP_MAX), -EBADMSG); /* no end */
        BAD(message.app_id[1] = '\x1b', -EBADMSG);                /* a terminal's escape */
        BAD(message.app_id[1] = '\xff', -EBADMSG);                /* no UTF-8 */
        BAD(message.app_id[100] = 'x', -EBADMSG);                 /* behind the end */
        BAD(message.pid = -1, -EBADMSG);
        BAD(message.pid = 7, -EBADMSG);                           /* without its start time */
        BAD(message.start_time = 7, -EBADMSG);
        BAD(message.boottime_ns = NOW + 1, -EBADMSG);             /* still to come */
        BAD(message.boottime_ns = UINT64_MAX, -EBADMSG);
        BAD((message.have = 0, message.app_id[0] = '\0', memset(message.app_id, 0, FOCUS_APP_MAX)),
            0); /* unknown */
        BAD((message.have = FOCUS_KNOWN, memset(message.app_id, 0, FOCUS_APP_MAX)),
            0);                 /* no app */
}

static void random_messages(void)
{
        struct focus_message message, read;

        srandom(1);
        for (int i = 0; i < 100000; i++) {
                unsigned char *bytes = (unsigned char *)&message;

                message = good();
                for (long n = random() % 4; n >= 0; n--)
                        bytes[random() % (long)sizeof(message)] = (unsigned char)random();
                if (focus_message_check(&message, sizeof(message), NOW, &read) == 0) {
                        char plain[FOCUS_APP_MAX];

                        check_text(util_printable(read.app_id, plain, sizeof(plain)), read.app_id);
                        check(read.boottime_ns <= NOW && read.pid >= 0);
                }
        }
}

static void sound_messages(void)
{
        struct focus_sound sound = { .magic = FOCUS_SOUND_MAGIC,
                                     .version = FOCUS_VERSION,
                                     .size = sizeof(sound),
                                     .n = 2,
                                     .others = 1,
                                     .players = { { 1, 0, 5 }, { 2, 0, 6 } } },
                           got, bad;
        const struct {
                int err;
                uint32_t magic, n, others;
                struct focus_player first, last;
        } cases[] = {
                { 0, FOCUS_SOUND_MAGIC, 2, 1, { 1, 0, 5 }, { 0 } },
                { 0, FOCUS_SOUND_MAGIC, FOCUS_PLAYERS_MAX, 0, { 1, 0, 5 }, { 1, 0, 1 } },
                { -EPROTO, FOCUS_MAGIC, 2, 1, { 1, 0, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, FOCUS_PLAYERS_MAX + 1, 0, { 1, 0, 5 }, { 1, 0, 1 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 1, 1, { 1, 0, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 2, { 1, 0, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 1, { 0, 0, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 1, { -1, 0, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 1, { 1, 0, 0 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 1, { 1, 1, 5 }, { 0 } },
                { -EBADMSG, FOCUS_SOUND_MAGIC, 2, 1, { 1, 0, 5 }, { 0, 1, 0 } },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                bad = sound;
                bad.magic = cases[i].magic;
                bad.n = cases[i].n;
                bad.others = cases[i].others;
                bad.players[0] = cases[i].first;
                bad.players[FOCUS_PLAYERS_MAX - 1] = cases[i].last;
                for (size_t j = 2; j < FOCUS_PLAYERS_MAX - 1 && j < bad.n; j++)
                        bad.players[j] = (struct focus_player){ (int32_t)j + 1, 0, 7 };
                check_int(focus_sound_check(&bad, sizeof(bad), &got), cases[i].err);
        }
        check_int(focus_sound_check(&sound, sizeof(sound) - 1, &got), -EMSGSIZE);
}

static void screen_messages(void)
{
        const struct focus_screen good_one = { .magic = FOCUS_SCREEN_MAGIC,
                                               .version = FOCUS_VERSION,
                                               .size = sizeof(good_one),
                                               .refresh_mhz = 59997 };
        struct focus_screen screen = good_one, got;

        check_int(focus_screen_check(&screen, sizeof(screen), &got), 0);
        check_int(got.refresh_mhz, 59997);
        check_int(focus_screen_check(&screen, sizeof(screen) - 1, &got), -EMSGSIZE);
        screen.version++;
        check_int(focus_screen_check(&screen, sizeof(screen), &got), -EPROTO);
        screen = good_one;
        screen.zero = 1;
        check_int(focus_screen_check(&screen, sizeof(screen), &got), -EBADMSG);
        for (size_t i = 0; i < 4; i++) {
                screen = good_one;
                screen.refresh_mhz = (const uint32_t[]){ 0, 60, 1000001, UINT32_MAX }[i];
                check_int(focus_screen_check(&screen, sizeof(screen), &got), i == 0 ? 0 : -EBADMSG);
        }
}

static void buckets(void)
{
        struct focus_bucket bucket = { 0 };
        int taken = 0;

        for (int i = 0; i < 1000; i++)
                taken += focus_bucket_take(&bucket, NOW);
        check_int(taken, FOCUS_BURST);
        for (uint64_t ms = 0; ms < 10000; ms++)
                taken += focus_bucket_take(&bucket, NOW + ms * NS_PER_MS);
        check_near(taken, FOCUS_BURST + 10 * FOCUS_RATE_PER_S, 2);
        check(!focus_bucket_take(&bucket, 1)); /* a clock that goes backward gives nothing */
}

int main(void)
{
        messages();
        sound_messages();
        screen_messages();
        random_messages();
        buckets();
        return check_result();
}
