#include <gtest/gtest.h>

#include <ostream>

#include "cli/process.h"
#include "support/scratch.h"

namespace hearsay::cli {

/// A user error, and the one line that `hearsay` prints about it. A message that ends in " ..." is
/// the beginning of that line.
struct Mistake {
  const char* name;
  std::vector<std::string> arguments;
  std::string message;
  std::string file = "";  ///< contents of `input`, if any
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.name; }

namespace {

using Words = std::vector<std::string>;

Words train(Words more) {
  more.insert(more.begin(), {"train", "--out", "made"});
  return more;
}

/// `hearsay train` with one setting.
Words with(const char* option, const char* value) { return train({option, value}); }

class BadInput : public ::testing::TestWithParam<Mistake> {};

TEST_P(BadInput, IsToldInOneLineAndLeavesNothingBehind) {
  const Mistake& mistake = GetParam();
  const support::Scratch scratch;
  if (!mistake.file.empty()) support::write_text(scratch / "input", mistake.file);
  const auto before = support::contents(scratch.path());

  const Result result = hearsay(mistake.arguments, scratch.path());
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  const std::string expected = "hearsay: " + mistake.message;
  if (expected.ends_with(" ...")) {
    const std::string leading = expected.substr(0, expected.size() - 4);
    EXPECT_EQ(result.err.substr(0, leading.size()), leading) << result.err;
  } else {
    EXPECT_EQ(result.err, expected + "\n");
  }
  EXPECT_EQ(support::contents(scratch.path()), before);
}

std::string name_of(const ::testing::TestParamInfo<Mistake>& row) { return row.param.name; }

const std::vector<Mistake> kCommandLine{
    {"command",
     {"trian"},
     "[hearsay] there is no command 'trian' (did you mean 'train'?); see hearsay --help"},
    {"command_like_none",
     {"paint", "it"},
     "[hearsay] there is no command 'paint'; see hearsay --help"},
    {"command_and_help",
     {"trian", "--help"},
     "[hearsay] there is no command 'trian' (did you mean 'train'?); see hearsay --help"},
    {"command_of_identity_and_help",
     {"identity", "nwe", "--help"},
     "[identity] there is no command 'nwe' (did you mean 'new'?); see hearsay identity --help"},
    {"command_for_help",
     {"help", "trian"},
     "[help] there is no command 'trian' (did you mean 'train'?); see hearsay --help"},
    {"command_of_train_for_help",
     {"help", "train", "fast"},
     "[help] there is no command 'fast'; see hearsay train --help"},
    {"hidden_command", {"generat"}, "[hearsay] there is no command 'generat'; see hearsay --help"},
    {"option_of_no_command",
     {"--verson"},
     "[hearsay] there is no option '--verson' (did you mean '--version'?); see hearsay --help"},
    {"option",
     {"train", "--algoritm", "dsgd"},
     "[train] there is no option '--algoritm' (did you mean '--algorithm'?); see hearsay train "
     "--help"},
    {"option_like_none",
     {"train", "--colour", "red"},
     "[train] there is no option '--colour'; see hearsay train --help"},
    {"option_of_graph",
     {"graph", "ring", "--peer", "4"},
     "[graph] there is no option '--peer' (did you mean '--peers'?); see hearsay graph --help"},
    {"two_specs",
     {"graph", "ring", "star"},
     "[graph] 'star' is one word too many; see hearsay graph --help"},
    {"two_configs_of_one_name",
     {"train", "input", "./input", "--out", "runs"},
     "[train] two of the files are named input and would share runs/input; rename one, or drop "
     "--out",
     "rounds = 4\ndata = 'least-squares'\n"},
    {"no_value",
     {"train", "--peers"},
     "[train] --peers: 1 required N missing; see hearsay train --help"},
    {"given_twice",
     {"train", "--peers", "2", "--peers", "3"},
     "[train] --peers: At Most 1 required but received 2; see hearsay train --help"},
    {"empty_setting", with("--graph", ""),
     "[train] --graph: must not be empty; see hearsay train --help"},
    {"empty_out",
     {"train", "--out", ""},
     "[train] --out: must not be empty; see hearsay train --help"},
    {"graph_without_spec", {"graph"}, "[graph] spec is required; see hearsay graph --help"},
    {"graph_peers",
     {"graph", "ring", "-n", "x"},
     "[graph] --peers: Value x not in range 0 to 1048576; see hearsay graph --help"},
    {"graph_dim",
     {"graph", "ring", "--dim", "-5"},
     "[graph] --dim: Value -5 not in range 1 to 1000000000; see hearsay graph --help"},
    {"graph_that_does_not_fit",
     {"graph", "torus:3x5", "-n", "16"},
     "[graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop --peers"},
    {"graph_compressor",
     {"graph", "ring", "--compressor", "topk:2"},
     "[topk] keep must be in (0, 1], got 2"},
    {"list_family",
     {"list", "graps"},
     "[list] no list is named 'graps' (did you mean 'graphs'?); there are graphs, compressors, "
     "algorithms, models, data, losses, partitions, augmentations, optimizers, rates, robust, "
     "lies, "
     "devices, transports, "
     "energy-models"},
    {"report_on_nothing",
     {"report"},
     "[report] directories is required; see hearsay report --help"},
};
INSTANTIATE_TEST_SUITE_P(CommandLine, BadInput, ::testing::ValuesIn(kCommandLine), name_of);

const std::vector<Mistake> kNames{
    {"algorithm", with("--algorithm", "spasre-push"),
     "[algorithm] no algorithm is named 'spasre-push' (did you mean 'sparse-push'?); there are "
     "psgd, dsgd, sgp, ..."},
    {"graph", with("--graph", "rnig"),
     "[graph] no graph is named 'rnig' (did you mean 'ring'?); there are ring, star, grid, "
     "..."},
    {"compressor", with("--compressor", "topkk"),
     "[compressor] no compressor is named 'topkk' (did you mean 'topk'?); there are identity, "
     "topk, randk, qsgd, int8, sign"},
    {"data", with("--data", "digts"),
     "[data] no data is named 'digts' (did you mean 'digits'?); there are consensus, "
     "least-squares, logistic, digits, ..."},
    {"data_with_partition", train({"--data", "digts", "--partition", "iid"}),
     "[data] no data is named 'digts' (did you mean 'digits'?); there are consensus, "
     "least-squares, logistic, digits, ..."},
    {"model", with("--model", "resnet21"),
     "[model] no model is named 'resnet21' (did you mean 'resnet20'?); there are logistic, linear, "
     "mlp, "
     "..."},
    {"augmentation", with("--augment", "crop-flp"),
     "[augmentation] no augmentation is named 'crop-flp' (did you mean 'crop-flip'?); there are "
     "none, ..."},
    {"init", with("--init", "nowhere.safetensors"),
     "[init] there is no file 'nowhere.safetensors'; give a safetensors file, or none"},
    {"eval_file",
     {"eval", "nowhere", "--model", "logistic", "--data", "digits"},
     "[eval] there is no file 'nowhere'"},
    {"partition", with("--partition", "sqew"),
     "[partition] no partition is named 'sqew' (did you mean 'skew'?); there are iid, skew, "
     "by-label, dirichlet"},
    {"optimizer", with("--optimizer", "adm"),
     "[optimizer] no optimizer is named 'adm' (did you mean 'adam'?); there are sgd, momentum, "
     "nesterov, adam"},
    {"rate", with("--lr", "cosin:0.1"),
     "[learning rate schedule] no learning rate schedule is named 'cosin' (did you mean "
     "'cosine'?); there are constant, steps, halve, cosine"},
    {"device_by_another_word", with("--device", "gpu"),
     "[device] no device is named 'gpu' (did you mean 'cuda'?); there are cpu, cuda"},
    {"compressor_by_another_word", with("--compressor", "none"),
     "[compressor] no compressor is named 'none' (did you mean 'identity'?); there are identity, "
     "..."},
    {"device", with("--device", "cudaa"),
     "[device] no device is named 'cudaa' (did you mean 'cuda'?); there are cpu, cuda"},
};
INSTANTIATE_TEST_SUITE_P(Names, BadInput, ::testing::ValuesIn(kNames), name_of);

const std::vector<Mistake> kValues{
    {"peers_word", with("--peers", "four"),
     "[config] peers must be a whole number from 0 to 1048576, got 'four'"},
    {"peers_negative", with("--peers", "-3"),
     "[config] peers must be a whole number from 0 to 1048576, got '-3'"},
    {"peers_fraction", with("--peers", "1.5"),
     "[config] peers must be a whole number from 0 to 1048576, got '1.5'"},
    {"peers_too_many", with("--peers", "99999999999999999999"),
     "[config] peers must be a whole number from 0 to 1048576, got '99999999999999999999'"},
    {"threads_too_many", with("--threads", "1000000"),
     "[config] threads must be a whole number from 0 to 1024, got '1000000'"},
    {"rounds_too_many", with("--rounds", "4294967296"),
     "[config] rounds must be a whole number from 0 to 4294967295, got '4294967296'"},
    {"epochs_too_many", with("--epochs", "4294967295"),
     "[config] 51539607560 rounds are too many; at most 4294967295 are possible, use fewer "
     "epochs"},
    {"validation", with("--validation", "1"),
     "[config] validation must be a number in [0, 1), got '1'"},
    {"validation_word", with("--validation", "10%"),
     "[config] validation must be a number in [0, 1), got '10%'"},
    {"compare", with("--compare", "perhaps"), "[config] compare must be yes or no, got 'perhaps'"},
    {"batch_too_large", with("--batch", "1000000000000"),
     "[config] batch must be a whole number from 0 to 1048576, got '1000000000000'"},
    {"batch_zero", with("--batch", "0"), "[config] batch must be at least 1 for a dataset, got 0"},
    {"seed", with("--seed", "0x5"),
     "[config] seed must be a whole number from 0 to 9223372036854775807, got '0x5'"},
    {"epochs_and_rounds", train({"--epochs", "2", "--rounds", "3"}),
     "[config] epochs and rounds are both given; give one of them"},
    {"number_out_of_range", with("--compressor", "topk:keep=1.5"),
     "[topk] keep must be in (0, 1], got 1.5"},
    {"number_malformed", with("--compressor", "topk:keep=1%"),
     "[topk] keep must be in (0, 1], got 1%"},
    {"number_not_finite", with("--lr", "constant:nan"),
     "[constant] rate must be in [0, inf), got nan"},
    {"integer_out_of_range", with("--compressor", "qsgd:bits=99"),
     "[qsgd] bits must be a whole number in [1, 16], got 99"},
    {"integer_malformed", with("--algorithm", "slowmo:period=2.5"),
     "[slowmo] period must be a whole number in [1, 1000000], got 2.5"},
    {"choice", with("--algorithm", "dsgd:order=cta"),
     "[dsgd] order must be one of atc, awc, got cta"},
    {"bare_choice", with("--graph", "ring:sideways"),
     "[ring] kind must be one of undirected, directed, got sideways"},
    {"flag", with("--algorithm", "sgp:overlap=yes"), "[sgp] overlap must be 0 or 1, got yes"},
    {"size", with("--graph", "torus:3by5"),
     "[torus] size must be rows x columns, such as 4x4, each in [1, 65536], at most 1048576 peers, "
     "got 3by5"},
    {"eta", with("--algorithm", "sparse-push:eta=2"), "[sparse-push] eta must be in (0, 1], got 2"},
    {"parameter", with("--compressor", "topk:kep=0.1"),
     "[topk] has no parameter 'kep' (did you mean 'keep'?); it takes keep, scope, value"},
    {"parameter_twice", with("--compressor", "topk:0.1,keep=0.2"),
     "[topk] keep is given twice in 'topk:0.1,keep=0.2'"},
    {"parameter_of_none", with("--compressor", "sign:4"), "[sign] takes no parameters, got '4'"},
    {"parameter_too_many", with("--optimizer", "sgd:0,0,0"),
     "[sgd] cannot read '0' in 'sgd:0,0,0'; write sgd:key=value,key=value"},
    {"parameter_empty", with("--compressor", "topk:keep="),
     "[topk] keep must be given ((0, 1]): fraction of the entries that is sent, at least one"},
    {"partition_fraction", with("--partition", "skew:2"),
     "[skew] fraction must be in [0, 1], got 2"},
    {"momentum", with("--optimizer", "momentum:1"), "[momentum] beta must be in [0, 1), got 1"},
    {"rate_negative", with("--lr", "-1"), "[constant] rate must be in [0, inf), got -1"},
    {"rate_steps", with("--lr", "steps:0.1,at=5+3"),
     "[steps] at must be ascending epochs > 0 joined by '+', such as 100+150, got 5+3"},
    {"rate_every", with("--lr", "halve:0.1,every=0"), "[halve] every must be in (0, inf), got 0"},
    {"data_dim", with("--data", "least-squares:dim=0"),
     "[least-squares] dim must be a whole number in [1, 2000], got 0"},
    {"link_loss", with("--link", "loss=1"), "[link] loss must be in [0, 1), got 1"},
    {"link_key", with("--link", "bandwith=1e6"),
     "[link] has no parameter 'bandwith' (did you mean 'bandwidth'?); it takes latency, "
     "bandwidth, compute, straggler, loss"},
    {"cycle_member", with("--graph", "cycle:ring++star"),
     "[cycle] a member is empty; write cycle:A+B+C,every=K"},
    {"cycle_every", with("--graph", "cycle:ring+star,every=0"),
     "[cycle] every must be a number of rounds or epochs, such as 5 or 5epochs, got '0'"},
};
INSTANTIATE_TEST_SUITE_P(Values, BadInput, ::testing::ValuesIn(kValues), name_of);

const std::vector<Mistake> kMisfits{
    {"peers_of_a_torus", train({"--graph", "torus:3x5", "--peers", "16"}),
     "[graph] torus:3x5 has 15 peers but --peers is 16; use torus:4x4, or drop --peers"},
    {"peers_of_a_paper", train({"--graph", "sparse-push:b", "--peers", "5"}),
     "[graph] sparse-push:b has 4 peers but --peers is 5; drop --peers"},
    {"more_peers_than_samples", train({"--peers", "5000", "--graph", "ring"}),
     "[skew] 5000 peers cannot share 1442 samples; use 1 to 1442 peers"},
    {"directed_for_dsgd", train({"--algorithm", "dsgd", "--graph", "sparse-push:b"}),
     "[dsgd] needs doubly stochastic weights, and those of sparse-push:b are not; use ring, "
     "exponential or torus, or a push-sum method (sgp, sparse-push, push-diging) on this "
     "graph"},
    {"directed_for_choco", train({"--algorithm", "choco", "--graph", "ring:directed"}),
     "[choco] needs symmetric weights, and ring:directed has none; use ring, torus or "
     "random:p=0.5,symmetric=1"},
    {"changing_for_extra", train({"--algorithm", "extra", "--graph", "cycle:ring+complete"}),
     "[extra] needs a graph that does not change, and cycle:ring+complete does; use ring, or "
     "gradient-tracking on this graph"},
    {"changing_for_quant_sgp",
     train({"--algorithm", "quant-sgp", "--graph", "one-peer-exponential"}),
     "[quant-sgp] keeps copies of its neighbours' models, which one-peer-exponential makes "
     "worthless every round; use a graph with longer phases (cycle:A+B,every=100), or "
     "sparse-push"},
    {"spectrum_for_d2", train({"--algorithm", "d2", "--graph", "ring"}),
     "[d2] needs lambda_min > -1/3, and ring has -0.3333; use exact-diffusion, which mixes "
     "with "
     "(I+W)/2"},
    {"compressor_for_sgp", train({"--algorithm", "sgp", "--compressor", "sign"}),
     "[sgp] does not compress, and the compressor is sign; drop --compressor, or use "
     "sparse-push, deep-squeeze, choco or quant-sgp"},
    {"unbiased_for_sparse_push",
     train({"--algorithm", "sparse-push", "--compressor", "qsgd:bits=4,unbiased=1"}),
     "[sparse-push] needs a contractive compressor, and qsgd:bits=4,unbiased=1 is unbiased: "
     "under "
     "error feedback it explodes; use qsgd without unbiased=1, randk without scale=1, topk, "
     "int8 or sign"},
    {"coarse_for_dcd",
     train({"--model", "logistic", "--algorithm", "dcd", "--compressor", "topk:keep=0.01"}),
     "[dcd] needs mild compression: the relative error of topk:keep=0.01 may reach 0.995, and ring "
     "allows 0.25; use qsgd:bits=8,unbiased=1 or identity, or choco, which takes any"},
    {"adam_for_extra", train({"--algorithm", "extra", "--optimizer", "adam"}),
     "[extra] takes differences of directions and cannot use adam; use sgd, momentum or "
     "nesterov"},
    {"momentum_for_dmsgd", train({"--algorithm", "dmsgd", "--optimizer", "nesterov"}),
     "[dmsgd] has a momentum of its own (dmsgd:beta=..); use --optimizer sgd"},
    {"loss_for_choco", train({"--algorithm", "choco", "--link", "loss=0.1"}),
     "[choco] has no push-sum weights, and links that lose messages bias it; use sgp or "
     "sparse-push"},
    {"partition_of_made_up_data", train({"--data", "consensus", "--partition", "iid"}),
     "[consensus] consensus makes its own data and takes no partition; drop --partition"},
    {"validation_of_made_up_data", train({"--data", "consensus", "--validation", "0.1"}),
     "[consensus] consensus makes its own data and takes no validation; drop --validation"},
    {"too_few_samples", train({"--data", "least-squares:dim=100,samples=2"}),
     "[least-squares] samples must be at least dim / peers = 100 / 4, got 2"},
};
INSTANTIATE_TEST_SUITE_P(Misfits, BadInput, ::testing::ValuesIn(kMisfits), name_of);

const std::vector<Mistake> kConfigFiles{
    {"missing", train({"nowhere.toml"}), "[train] there is no file 'nowhere.toml'"},
    {"directory", train({"."}), "[train] there is no file '.'"},
    {"syntax", train({"input"}), "[input, line 2] Error while parsing value: ...",
     "peers = 4\ngraph = ring\n"},
    {"unfinished_text", train({"input"}), "[input, line 1] Error while parsing literal string: ...",
     "graph = 'ring\n"},
    {"key_twice", train({"input"}),
     "[input, line 3] Error while parsing key-value pair: cannot redefine existing integer 'seed'",
     "seed = 1\n\nseed = 2\n"},
    {"key", train({"input"}),
     "[input, line 2] there is no setting 'pears' (did you mean 'peers'?); there are peers, "
     "...",
     "# fruit\npears = 4\n"},
    {"table", train({"input"}), "[input, line 1] there is no setting 'train'; there are peers, ...",
     "[train]\npeers = 4\n"},
    {"edge_list", train({"--graph", "file:input"}),
     "[file] input:2: 'zzz' is no peer; peers are whole numbers from 0 to 1048575", "0 1\n1 zzz\n"},
    {"cell_of_a_csv", train({"--data", "csv:input"}),
     "[csv] input line 3 has 'x' in column 'b'; features must be finite numbers",
     "a,b,label\n1,2,0\n4,x,1\n"},
    {"sweep", train({"input"}),
     "[train] input is a sweep, not the config of a run; use: hearsay sweep input",
     "title = 'Rates'\nseeds = [1, 2]\n[base]\ndata = 'least-squares'\n[[axes]]\nname = 'rate'\n"
     "lr = [0.1, 0.2]\n"},
    {"count_of_another_type", train({"input"}),
     "[input, line 1] peers must be a whole number from 0 to 1048576, got 'four'",
     "peers = 'four'\n"},
    {"count_negative", train({"input"}),
     "[input, line 3] seed must be a whole number from 0 to 9223372036854775807, got '-1'",
     "\n\nseed = -1\n"},
    {"boolean", train({"input"}), "[input, line 1] graph must be a text or a number",
     "graph = true\n"},
    {"array", train({"input"}), "[input, line 2] lr must be a text or a number",
     "seed = 1\nlr = [0.1, 0.01]\n"},
    {"empty_value", train({"input"}),
     "[input, line 1] graph is empty; who talks to whom (hearsay list graphs); auto: "
     "sparse-push:a (4 peers) or ring:directed if the method can use directed graphs, star "
     "if it needs eigenvalues above -1/3, else ring",
     "graph = ''\n"},
    {"exclusion", train({"input"}), "[config] epochs and rounds are both given; give one of them",
     "epochs = 1\nrounds = 2\n"},
    {"component", train({"input"}), "[topk] keep must be in (0, 1], got 0",
     "compressor = 'topk:keep=0'\n"},
};
INSTANTIATE_TEST_SUITE_P(ConfigFiles, BadInput, ::testing::ValuesIn(kConfigFiles), name_of);

const std::vector<Mistake> kEdgeLists{
    {"missing", with("--graph", "file:nowhere.txt"),
     "[file] cannot read nowhere.txt; give the path of an edge list"},
    {"no_path", with("--graph", "file"), "[file] path must be given ..."},
    {"empty", with("--graph", "file:input"),
     "[file] input has no edges; write one a line, 'sender receiver [weight]'", "# nothing\n\n"},
    {"bad_token", with("--graph", "file:input"),
     "[file] input:2: 'one' is no peer; peers are whole numbers from 0 to 1048575", "0 1\none 0\n"},
    {"one_end", with("--graph", "file:input"),
     "[file] input:1: '' is no peer; peers are whole numbers from 0 to 1048575", "0\n"},
    {"negative_peer", with("--graph", "file:input"),
     "[file] input:1: '-1' is no peer; peers are whole numbers from 0 to 1048575", "-1 0\n"},
    {"too_many_words", with("--graph", "file:input"),
     "[file] input:1: has more than three words; write 'sender receiver [weight]'",
     "0 1 0.5 0.5\n"},
    {"self_loop", with("--graph", "file:input"),
     "[file] input:3: is a self-loop; leave it out: a peer keeps what it does not send",
     "0 1\n1 0\n1 1\n"},
    {"edge_twice", with("--graph", "file:input"),
     "[file] input:3: gives edge 0 -> 1 again, first given in line 1", "0 1\n1 0\n0 1\n"},
    {"weight_missing", with("--graph", "file:input"),
     "[file] input:2: must be like the lines before: give all edges a weight, or none",
     "0 1 0.5\n1 0\n"},
    {"weight_of_one", with("--graph", "file:input"),
     "[file] input:1: weight must be a number in (0, 1), got '1'", "0 1 1\n1 0 0.5\n"},
    {"weights_of_more_than_all", with("--graph", "file:input"),
     "[file] input: [graph] peer 0 gives away 1.2 of its 1; its out-edges must sum to "
     "less than 1",
     "0 1 0.6\n0 2 0.6\n1 0 0.5\n2 0 0.5\n"},
    {"not_connected", with("--graph", "file:input"),
     "[graph] file:input is not strongly connected: nothing from peer 1 reaches peer 0; "
     "add edges "
     "until every peer reaches every other",
     "0 1\n"},
    {"more_peers_than_said", train({"--graph", "file:input", "--peers", "2"}),
     "[graph] file:input has 3 peers but --peers is 2; drop --peers", "0 1\n1 2\n2 0\n"},
    {"fewer_peers_than_said", train({"--graph", "file:input", "--peers", "3"}),
     "[graph] file:input is not strongly connected: ...", "0 1\n1 0\n"},
};
INSTANTIATE_TEST_SUITE_P(EdgeLists, BadInput, ::testing::ValuesIn(kEdgeLists), name_of);

}  // namespace
}  // namespace hearsay::cli
