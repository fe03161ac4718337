/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast-develop: the commands of `joulecast` for developers, apart from record. `joulecast` starts it. */

#include <stdio.h>
#include <string.h>

#include "answer/options.h"
#include "diff/diff.h"
#include "emulate/commands.h"
#include "import/import.h"
#include "packets/price-packets.h"
#include "util/util.h"
#include "util/words.h"

static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
} commands[] = {
        { "bench", bench_main },   { "compare", compare_main },
        { "diff", diff_main },     { "emulate", emulate_main },
        { "import", import_main }, { "price-packets", price_packets_main },
        { "whatif", whatif_run_main },
};

int main(int argc, char **argv)
{
        util_hold_standard_fds();
        util_end_on_shorter_files();
        words_start();
        for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
                if (strcmp(argv[1], commands[i].name) == 0)
                        return options_finish(commands[i].main(argc - 1, argv + 1), &program_log);
        log_error(&program_log, "joulecast-develop is started by joulecast; see joulecast --help");
        return CODE_USAGE;
}
