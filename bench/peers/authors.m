% Fits a set by the code of the author of BMKLR and BEMKL, in the folder that the first
% argument names, and prints the answer after each of the given numbers of sweeps. The kernels are
% given; times are user time of training alone, without the lower bound, which one more run computes.
1;

function d = read(name, varargin)
    f = fopen([name '.f64'], 'r', 'ieee-le');
    d = fread(f, Inf, 'double');
    fclose(f);
    if nargin > 1
        d = reshape(d, varargin{:});
    end
end

% The normal distribution, which Octave itself does not have.
function p = normcdf(x)
    p = 0.5 * erfc(-x / sqrt(2));
end

function p = normpdf(x)
    p = exp(-0.5 * x .^ 2) / sqrt(2 * pi);
end

words = argv();
addpath(words{1});
task = words{2};
n = str2double(words{3});
t = str2double(words{4});
p = str2double(words{5});
steps = str2num(words{6}); %#ok<ST2NM>
K = read('k', n, n, p);
T = read('test', n, t, p);
y = read('y');
want = read('want');

train = str2func(['bemkl_supervised_' task '_variational_train']);
test = str2func(['bemkl_supervised_' task '_variational_test']);
parameters = struct();
for name = {'lambda', 'upsilon', 'gamma', 'omega', 'epsilon'}
    parameters.(['alpha_' name{1}]) = 1;
    parameters.(['beta_' name{1}]) = 1;
end
parameters.margin = 1;
parameters.sigma_g = 0.1;
parameters.seed = 1606;

parameters.iteration = steps(end);
parameters.progress = 1;
bounded = train(K, y, parameters);
parameters.progress = 0;
for sweeps = steps
    parameters.iteration = sweeps;
    [~, before] = cputime();
    state = train(K, y, parameters);
    [~, after] = cputime();
    prediction = test(T, state);
    if strcmp(task, 'regression')
        loss = sqrt(mean((prediction.y.mu - want) .^ 2));
    else
        right = prediction.p;
        right(want < 0) = 1 - right(want < 0);
        loss = -mean(log(max(right, realmin)));
    end
    printf('\n{"learner": "the author''s code", "sweeps": %d, "seconds": %.6f, "loss": %.17g, "bound": %.17g}\n', ...
        sweeps, after - before, loss, bounded.bounds(sweeps));
end
