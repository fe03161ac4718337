/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "radio.h"
#include "util/util.h"

static const char *number(double value, char buf[32])
{
        return util_print_double(value, buf, 32);
}

static void print_value(FILE *out, const char *key, const char *part, const struct radio_value *value)
{
        char text[32], error[32];

        if (isnan(value->value))
                return;
        fprintf(out, "%s%s = %s", key, part, number(value->value, text));
        if (!isnan(value->standard_error))
                fprintf(out, " %s", number(value->standard_error, error));
        fputc('\n', out);
}

static void print_prices(FILE *out, const struct radio_value *per_byte, const struct radio_value *per_packet)
{
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                print_value(out, radio_directions[d], "_nj_per_byte", &per_byte[d]);
                print_value(out, radio_directions[d], "_nj_per_packet", &per_packet[d]);
        }
}

static void print_state(FILE *out, const struct radio *radio, const struct radio_state *state)
{
        char a[32], b[32], c[32];

        fprintf(out, "\n[radio %s %s]\n", radio->name, state->name);
        print_value(out, "power_mw", "", &state->power_mw);
        for (int s = 0; s < RADIO_SIGNALS; s++)
                print_value(out, "power_mw.", radio_signals[s], &state->signal_mw[s]);
        if (state->pulse.given)
                fprintf(out, "pulse = %s %s %s%s\n", number(state->pulse.mw, a), number(state->pulse.on_ms, b),
                        number(state->pulse.period_ms, c), state->pulse.absolute ? " absolute" : "");
        for (int d = 0; d < RADIO_DIRECTIONS; d++) {
                if (!state->on[d].move.given)
                        continue;
                fprintf(out, "on_%s = %s", radio_directions[d], state->on[d].move.name);
                if (state->on[d].least_bytes > 0)
                        fprintf(out, " >= %llu", (unsigned long long)state->on[d].least_bytes);
                fputs(state->on[d].at_pulse ? " at pulse\n" : "\n", out);
        }
        if (state->rate.move.given)
                fprintf(out, "on_rate = %s > %llu %s\n", state->rate.move.name, (unsigned long long)state->rate.packets,
                        number(state->rate.ms, a));
        if (state->after.move.given)
                fprintf(out, "after = %s %s%s\n", number(state->after.ms, a), state->after.move.name,
                        state->after.fixed ? " fixed" : "");
        if (state->reset.given)
                fprintf(out, "%s = %llu %s\n", state->reset.packets > 0 ? "reset_packets" : "reset",
                        (unsigned long long)(state->reset.packets > 0 ? state->reset.packets : state->reset.bytes),
                        number(state->reset.ms, a));
        print_prices(out, state->nj_per_byte, state->nj_per_packet);
}

static void print_radio(FILE *out, const struct radio *radio)
{
        static const char *const rates[RADIO_DIRECTIONS] = { "phy_kbps_up", "phy_kbps_down" };
        char text[32];

        fprintf(out, "\n[radio %s]\ninitial = %s\n", radio->name, radio->initial.name);
        for (int d = 0; d < RADIO_DIRECTIONS; d++)
                if (!isnan(radio->phy_kbps[d]))
                        fprintf(out, "%s = %s\n", rates[d], number(radio->phy_kbps[d], text));
        print_prices(out, radio->nj_per_byte, radio->nj_per_packet);
        if (*radio->source)
                fprintf(out, "source = %s\n", radio->source);
        if (radio->verified >= 0)
                fprintf(out, "verified = %s\n", radio->verified ? "yes" : "no");
        for (size_t i = 0; i < radio->n_states; i++)
                print_state(out, radio, &radio->states[i]);
}

void radio_print(const struct radios *radios, FILE *out)
{
        char text[32];

        for (size_t i = 0; i < radios->n; i++)
                print_radio(out, &radios->list[i]);
        for (size_t i = 0; i < radios->n_carriers; i++) {
                const struct radio_carrier *carrier = &radios->carriers[i];

                fprintf(out, "\n[carrier %s]\nradio = %s\n", carrier->name, carrier->radio);
                for (size_t t = 0; t < carrier->n_timers; t++)
                        fprintf(out, "%s.after_ms = %s\n", carrier->timers[t].state,
                                number(carrier->timers[t].after_ms, text));
        }
}
